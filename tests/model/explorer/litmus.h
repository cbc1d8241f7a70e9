// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Helpers for litmus tests: a litmus test is a program that returns what it has seen, and the set
// of all outcomes that it may see.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_LITMUS_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_LITMUS_H_

#include <gtest/gtest.h>

#include <initializer_list>
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
  const Result full = explore({.preemptions = 1000}, [&] { without.insert(program()); });
  EXPECT_TRUE(reduced.ok()) << reduced.failure;
  EXPECT_TRUE(full.ok()) << full.failure;
  EXPECT_EQ(with_sleep_sets, without);
  EXPECT_LE(reduced.executions, full.executions);
  return with_sleep_sets;
}

// ---- Shapes ----

// What the threads of a shape share, and what they have read.
struct Shared {
  Atomic<int> x{0}, y{0}, z{0};
  int read[4] = {};
};
using Location = Atomic<int> Shared::*;
inline constexpr Location x = &Shared::x, y = &Shared::y, z = &Shared::z;

// What a thread does.
inline auto store(Location at, int value, Order order) {
  return [=](Shared& s) { (s.*at).store(value, order); };
}
inline auto load(int into, Location at, Order order) {
  return [=](Shared& s) { s.read[into] = (s.*at).load(order); };
}
inline auto add(Location at, int value, int into = 3) {
  return [=](Shared& s) { s.read[into] = (s.*at).fetch_add(value, kRelaxed); };
}
inline auto swap(Location at, int into, int desired, Order success, Order failure) {
  return
      [=](Shared& s) { (s.*at).compare_exchange_strong(s.read[into], desired, success, failure); };
}

// The outcomes of these threads' steps: the first `count` values that were read, and what is in
// some locations at the end.
struct Seen {
  unsigned count;
  std::initializer_list<Location> last = {};
};
template <typename... Threads>
Outcomes shape(Seen what, Threads... threads) {
  return outcomes([=] {
    Shared s;
    spawn_each(s, threads...);
    join();
    std::string seen;
    for (unsigned i = 0; i < what.count; ++i) seen += digits(s.read[i]);
    for (const Location at : what.last) seen += digits((s.*at).load(kRelaxed));
    return seen;
  });
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
