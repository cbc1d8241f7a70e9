// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Helpers for litmus tests: a litmus test is a program that returns what it has seen, and the set
// of all outcomes that it may see.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_LITMUS_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_LITMUS_H_

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/model/explorer/atomic.h"
#include "tests/model/explorer/explore.h"

namespace attrcache::model::litmus {

using Order = std::memory_order;
inline constexpr auto kRelaxed = std::memory_order_relaxed;
inline constexpr auto kAcquire = std::memory_order_acquire;
inline constexpr auto kRelease = std::memory_order_release;
inline constexpr auto kAcqRel = std::memory_order_acq_rel;
inline constexpr auto kSeqCst = std::memory_order_seq_cst;

using Outcomes = std::set<std::string>;

// An outcome: one digit for each value that was read.
template <typename... Seen>
std::string digits(Seen... seen) {
  return (std::string() + ... + static_cast<char>('0' + seen));
}

// The outcomes of all executions of a program. `program` returns the outcome of one. It is explored
// without a bound, which uses sleep sets, and again with a bound so high that it bounds nothing,
// which uses none. Both explorations must agree.
template <typename Program>
Outcomes outcomes(Program program) {
  Outcomes with_sleep_sets;
  Outcomes without;
  const Result reduced = explore({}, [&] { with_sleep_sets.insert(program()); });
  const Result full = explore({.preemption_bound = 1000}, [&] { without.insert(program()); });
  EXPECT_TRUE(reduced.ok()) << reduced.failure;
  EXPECT_TRUE(full.ok()) << full.failure;
  EXPECT_EQ(with_sleep_sets, without);
  EXPECT_LE(reduced.executions, full.executions);
  return with_sleep_sets;
}

// Every combination of `count` digits below `base`, without the forbidden ones.
inline Outcomes all_but(unsigned count, const Outcomes& forbidden) {
  Outcomes all;
  for (unsigned n = 0; n < 1u << count; ++n) {
    std::string seen;
    for (unsigned bit = count; bit-- > 0;) seen += static_cast<char>('0' + (n >> bit & 1));
    if (forbidden.count(seen) == 0) all.insert(seen);
  }
  return all;
}

}  // namespace attrcache::model::litmus

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_LITMUS_H_
