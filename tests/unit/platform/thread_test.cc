// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <barrier>
#include <set>
#include <thread>
#include <vector>

namespace attrcache {
namespace {

unsigned ordinal_of_another(uint64_t* identity = nullptr) {
  unsigned ordinal = 0;
  std::thread([&] {
    ordinal = thread_ordinal();
    if (identity != nullptr) *identity = this_thread().identity;
  }).join();
  return ordinal;
}

TEST(ThreadTest, OrdinalsOfEndedThreadsAreUsedAgain) {
  const unsigned first = ordinal_of_another();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ordinal_of_another(), first);
}

// A thread may come back after its ordinal was given back, from the destructors of other pthread
// keys, in all rounds of them; the last time nobody says when it ends.
TEST(ThreadTest, OrdinalsOfThreadsThatComeBackWhileTheyEndAreUsedAgain) {
#ifndef __linux__
  GTEST_SKIP() << "there is no way to ask whether a thread is gone";
#endif
  static pthread_key_t key;  // made after the library's own, so its destructors come later
  thread_ordinal();
  ASSERT_EQ(pthread_key_create(&key,
                               [](void* again) {
                                 thread_ordinal();
                                 pthread_setspecific(key, again);
                               }),
            0);
  unsigned highest = 0;
  for (int i = 0; i < 1000; ++i) {
    std::thread([&highest] {
      highest = std::max(highest, thread_ordinal());
      pthread_setspecific(key, &highest);
    }).join();
  }
  pthread_key_delete(key);
  EXPECT_LT(highest, 150u);
}

TEST(ThreadTest, IdentitiesAreNeverUsedAgain) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 100; ++i) {
    uint64_t identity;
    ordinal_of_another(&identity);
    EXPECT_TRUE(seen.insert(identity).second);
    EXPECT_EQ(identity % 2, 1u) << "no address";
  }
}

TEST(ThreadTest, EachOfManyHasAnOrdinal) {
  // 32 bits of addresses have no room for so many stacks.
  constexpr int kMany = sizeof(void*) < 8 ? 100 : 1100;
  std::vector<unsigned> seen(kMany);
  std::barrier all(kMany);
  std::vector<std::thread> threads;
  for (int t = 0; t < kMany; ++t) {
    threads.emplace_back([&, t] {
      seen[t] = thread_ordinal();
      EXPECT_EQ(this_thread().near_record, seen[t] < kNearOrdinals ? seen[t] * kRecordSize : 0);
      all.arrive_and_wait();  // or one might end before the next begins, and both have the same
      EXPECT_EQ(thread_ordinal(), seen[t]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::set<unsigned> distinct(seen.begin(), seen.end());
  EXPECT_EQ(distinct.size(), seen.size());
  EXPECT_EQ(distinct.count(0), 0u);
  EXPECT_LT(ordinal_of_another(), static_cast<unsigned>(kMany));
}

}  // namespace
}  // namespace attrcache
