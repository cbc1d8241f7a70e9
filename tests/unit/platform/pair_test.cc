// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/pair.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

#include "platform/pair_two_words.h"
#include "platform/wait.h"
#include "tests/support/threads.h"

namespace attrcache {
namespace {

TEST(PairTest, SwapChangesBothHalvesIfBothAreAsExpected) {
  Pair pair;
  SlotContent expected = {0, 0};
  EXPECT_TRUE(pair.compare_exchange(expected, {1, 2}));
  for (const SlotContent wrong : {SlotContent{1, 3}, SlotContent{3, 2}, SlotContent{0, 0}}) {
    expected = wrong;
    EXPECT_FALSE(pair.compare_exchange(expected, {7, 7}));
    EXPECT_EQ(expected.value, 1u) << "the current value";
    EXPECT_EQ(expected.meta, 2u);
  }
  EXPECT_EQ(pair.load().value, 1u);
  EXPECT_EQ(pair.load_meta(), 2u);
}

TEST(PairTest, SwapMetaLeavesTheValueAlone) {
  Pair pair;
  SlotContent expected = {0, 0};
  pair.compare_exchange(expected, {1, 2});
  uint64_t meta = 3;
  EXPECT_FALSE(pair.compare_exchange_meta(meta, 9));
  EXPECT_EQ(meta, 2u);
  EXPECT_TRUE(pair.compare_exchange_meta(meta, 9));
  EXPECT_EQ(pair.load().value, 1u);
  EXPECT_EQ(pair.load().meta, 9u);
  EXPECT_EQ(*pair.value_address(), 1u);
}

TEST(PairTest, TheSecondWordIsExchangedIfBothAreAsExpected) {
  struct alignas(Pair) {
    Atomic<uint64_t> first{1}, second{2};
  } words;
  EXPECT_FALSE(Pair::exchange_second(words, {1, 3}, 9) || Pair::exchange_second(words, {3, 2}, 9));
  EXPECT_TRUE(Pair::exchange_second(words, {1, 2}, 9));
  EXPECT_TRUE(words.first.load(kRelaxed) == 1 && words.second.load(kRelaxed) == 9);
}

TEST(PairTest, BothHalvesAreReadAtOneInstant) {
  Pair pair;
  support::run_threads(3, [&](int t) {
    for (int i = 0; i < 200000 / support::kSlowness; ++i) {
      if (t == 0) {
        SlotContent now = pair.load();
        while (!pair.compare_exchange(now, {now.value + 1, now.meta + (uint64_t{1} << 32)})) {
        }
      } else {
        const SlotContent now = pair.load();
        ASSERT_EQ(now.value << 32, now.meta);
      }
    }
  });
}

// ThreadSanitizer must see it, too: it fails this test if a step doesn't tell it (platform/pair_one_swap.h).
TEST(PairTest, EachReadSeesWhatWasWrittenBeforeTheSwap) {
  static constexpr SlotContent kNew = {1, 2};
  bool (*const kReads[])(Pair&) = {
      [](Pair& pair) { return pair.load().value == 1; },
      [](Pair& pair) { return pair.peek().value == 1; },
      [](Pair& pair) { return pair.load_meta() != 0; },
      [](Pair& pair) {
        uint64_t value;
        return pair.still(kNew.meta, &value);
      },
      [](Pair& pair) {
        SlotContent expected = kNew;
        return pair.compare_exchange(expected, kNew);
      },
      [](Pair& pair) {
        uint64_t expected = kNew.meta;
        return pair.compare_exchange_meta(expected, kNew.meta);
      },
  };
  for (const auto reads : kReads) {
    Pair pair;
    int written = 0;
    std::thread writer([&] {
      written = 1;
      SlotContent expected = {0, 0};
      pair.compare_exchange(expected, kNew);
    });
    support::wait_until([&] { return reads(pair); });
    EXPECT_EQ(written, 1);
    writer.join();
  }
}

// A thread may be stopped for ever halfway through a change. If readers waited for it, this test
// would never end.
TEST(PairTest, ReadersOfTwoWordsDoNotWaitForAChange) {
  constexpr uint64_t kMeta = pair_bits::kVisible | 7;
  TwoWordPair pair;
  pair.store_unshared({5, kMeta | pair_bits::kChanging});
  EXPECT_EQ(pair.peek().value, 5u);
  EXPECT_EQ(pair.peek().meta, kMeta);
}

TEST(PairTest, ThisProcessorIsSupported) { EXPECT_TRUE(pair_supported()); }

#if defined(__linux__)
// A Pair of two words waits by a Backoff. Whoever waits for long must sleep: a thread of lower
// priority goes on then, which it doesn't beside a thread that spins, or yields.
TEST(BackoffTest, SleepsInTheEnd) {
  const auto sleeps = [] {
    rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;  // a yield isn't counted there
  };
  const long before = sleeps();
  Backoff backoff;
  for (int i = 0; i < 300; ++i) backoff.relax();
  EXPECT_GE(sleeps() - before, 50);
}
#endif

}  // namespace
}  // namespace attrcache
