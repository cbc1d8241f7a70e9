// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/thread.h"

#include <gtest/gtest.h>

#include <barrier>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/threads.h"

namespace attrcache {
namespace {

TEST(ThreadTest, OrdinalsAreUniqueAndStay) {
  std::atomic<unsigned> seen[8] = {};
  std::barrier all(8);  // or one ends before the next begins, and has the same
  support::run_threads(8, [&](int t) {
    seen[t] = thread_ordinal();
    all.arrive_and_wait();
    EXPECT_EQ(thread_ordinal(), seen[t]);
  });
  std::set<unsigned> distinct(seen, seen + 8);
  EXPECT_EQ(distinct.size(), 8u);
  EXPECT_EQ(distinct.count(0), 0u);
}

unsigned ordinal_of_another(Borrow* left_behind = nullptr) {
  unsigned ordinal = 0;
  std::thread([&] {
    ordinal = thread_ordinal();
    this_thread().borrows = left_behind;
  }).join();
  return ordinal;
}

TEST(ThreadTest, OrdinalsOfEndedThreadsAreUsedAgain) {
  const unsigned first = ordinal_of_another();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ordinal_of_another(), first);
}

TEST(ThreadTest, ButNotOfThoseThatLeaveSomethingBorrowed) {
  Borrow* borrow = reinterpret_cast<Borrow*>(&borrow);
  const unsigned kept = ordinal_of_another(borrow);
  for (int i = 0; i < 100; ++i) EXPECT_NE(ordinal_of_another(), kept);
}

TEST(ThreadTest, EachOfManyHasAnOrdinalAlsoWhenThereAreMoreThanAreUsedAgain) {
  if (sizeof(void*) < 8) GTEST_SKIP() << "32 bits of addresses have no room for so many stacks";
  constexpr int kMany = 1100;
  std::vector<unsigned> seen(kMany);
  std::barrier all(kMany);
  std::vector<std::thread> threads;
  for (int t = 0; t < kMany; ++t) {
    threads.emplace_back([&, t] {
      seen[t] = thread_ordinal();
      all.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<unsigned>(seen.begin(), seen.end()).size(), seen.size());
  EXPECT_LE(ordinal_of_another(), 1024u);
}

}  // namespace
}  // namespace attrcache
