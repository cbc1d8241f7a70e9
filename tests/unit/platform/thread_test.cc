// SPDX-License-Identifier: Apache-2.0

#include "platform/thread.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/threads.h"

namespace attrcache {
namespace {

TEST(ThreadTest, OrdinalsAreUniqueAndStay) {
  std::atomic<unsigned> seen[8] = {};
  support::run_threads(8, [&](int t) {
    seen[t] = thread_ordinal();
    EXPECT_EQ(thread_ordinal(), seen[t]);
  });
  std::set<unsigned> distinct(seen, seen + 8);
  EXPECT_EQ(distinct.size(), 8u);
  EXPECT_EQ(distinct.count(0), 0u);
}

TEST(ThreadTest, BackoffComesBack) {
  Backoff backoff;
  for (int i = 0; i < 300; ++i) backoff.relax();
}

}  // namespace
}  // namespace attrcache
