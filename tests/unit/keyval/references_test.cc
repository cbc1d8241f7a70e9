// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/references.h"

#include <gtest/gtest.h>

#include "tests/support/threads.h"

namespace attrcache {
namespace {

constexpr uint32_t key(unsigned generation) { return id::make(3, generation, 0); }

class ReferencesTest : public ::testing::TestWithParam<unsigned> {
 protected:
  // Tries once, without the slow path, as dup and set do first.
  bool acquire_open(unsigned ordinal, unsigned generation) {
    const uint64_t word = all.of(ordinal).load(kAcquire);
    return ((word ^ key(generation)) & stripe::kKeyval) == 0 &&
           References::acquire_open(all.of(ordinal), word);
  }
  // Does what Registry::free does.
  bool close(unsigned generation) {
    const uint32_t counted = references.close_stripes();
    return (counted == 0 && references.end_unused(key(generation))) ||
           references.close_exact(counted);
  }
  bool drop(unsigned ordinal) {
    return !References::drop_open(all.of(ordinal)) && references.drop_closed();
  }

  References::Counter exact{0};
  References::Counter stripes[64] = {};
  References::Stripes all{stripes, 0, GetParam() - 1};
  References references{exact, all};
};

TEST_P(ReferencesTest, ClosingAnUnreferencedCountEndsIt) {
  references.reset(key(7));
  EXPECT_EQ(references.count(), 0u);
  EXPECT_TRUE(close(7));
  EXPECT_FALSE(references.acquire(key(7), 1)) << "once 0 it stays 0";
}

TEST_P(ReferencesTest, AReferenceTakenMeanwhileKeepsIt) {
  references.reset(key(7));
  EXPECT_EQ(references.close_stripes(), 0u);
  EXPECT_TRUE(references.acquire(key(7), 1));
  EXPECT_FALSE(references.end_unused(key(7)));
  EXPECT_FALSE(references.close_exact(0));
  EXPECT_TRUE(drop(1));
}

TEST_P(ReferencesTest, AfterClosingTheLastDropEndsIt) {
  references.reset(key(7));
  for (unsigned ordinal = 0; ordinal < 10; ++ordinal)
    EXPECT_TRUE(references.acquire(key(7), ordinal));
  EXPECT_EQ(references.count(), 10u);
  EXPECT_FALSE(close(7));
  EXPECT_EQ(references.count(), 10u);
  EXPECT_FALSE(acquire_open(3, 7));
  EXPECT_TRUE(references.acquire(key(7), 3)) << "freed and still in use";
  for (unsigned i = 0; i < 10; ++i) EXPECT_FALSE(drop(i));
  EXPECT_TRUE(drop(99)) << "by another thread than took it";
  EXPECT_EQ(references.count(), 0u);
  EXPECT_FALSE(references.acquire(key(7), 3));
}

TEST_P(ReferencesTest, AStripeMayGoBelowZero) {
  references.reset(key(0));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(references.acquire(key(0), 0));
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(drop(1));
  EXPECT_EQ(references.count(), 1u);
  EXPECT_FALSE(close(0));
  EXPECT_TRUE(drop(0));
}

// One thread only attaches and the other only deletes, any number of times.
TEST_P(ReferencesTest, AStripeMayLeaveItsRange) {
  if (GetParam() == 1) return;  // is both threads'
  for (const uint64_t times : {0x7fffffffu, 0x80000000u, 0x80000001u, 0xffffffffu}) {
    references.reset(key(7));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(references.acquire(key(7), 0));
    all.of(0).fetch_add(times << 32, kRelaxed);
    all.of(1).fetch_sub(times << 32, kRelaxed);
    EXPECT_TRUE(references.acquire(key(7), 0));
    EXPECT_FALSE(drop(1));
    EXPECT_EQ(references.count(), 3u) << times;
    EXPECT_FALSE(close(7));
    EXPECT_EQ(references.count(), 3u) << times;
    EXPECT_FALSE(drop(0));
    EXPECT_FALSE(drop(1));
    EXPECT_TRUE(drop(1)) << times;
  }
}

TEST_P(ReferencesTest, AnotherGenerationIsRefused) {
  for (unsigned generation = 0; generation < 256; ++generation) {
    references.reset(key(generation));
    EXPECT_FALSE(references.acquire(key((generation + 255) % 256), 1));
    EXPECT_FALSE(acquire_open(1, (generation + 1) % 256));
    EXPECT_TRUE(acquire_open(1, generation));
    EXPECT_FALSE(close(generation));
    EXPECT_FALSE(references.acquire(key((generation + 1) % 256), 1));
    EXPECT_TRUE(drop(1));
  }
}

// A predefined keyval is never freed, so none of its references is the last.
TEST_P(ReferencesTest, ClosedFromTheStart) {
  references.reset(key(7) + stripe::kClosing);
  EXPECT_FALSE(acquire_open(1, 7));
  EXPECT_FALSE(references.acquire(key(8), 1));
  EXPECT_TRUE(references.acquire(key(7), 1));
  EXPECT_EQ(references.count(), 1u);
  EXPECT_FALSE(drop(1));
  EXPECT_EQ(references.count(), 0u);
  EXPECT_TRUE(references.acquire(key(7), 1));
}

TEST_P(ReferencesTest, ExactlyOneIsToldOfTheEnd) {
  for (int round = 0; round < 1000 / support::kSlowness; ++round) {
    const unsigned generation = round % 256;
    references.reset(key(generation));
    std::atomic<int> told{0};
    support::run_threads(support::kThreads, [&](int t) {
      if (t == 0) {
        told += close(generation);
        return;
      }
      for (int i = 0; i < 20; ++i) {
        if (!references.acquire(key(generation), t)) return;
        told += drop(t + i);
      }
    });
    ASSERT_EQ(told, 1);
    ASSERT_EQ(references.count(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Stripes, ReferencesTest, ::testing::Values(1, 2, 8, 64));

}  // namespace
}  // namespace attrcache
