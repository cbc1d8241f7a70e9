// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/references.h"

#include <gtest/gtest.h>

namespace attrcache {
namespace {

constexpr id::Keyval key(unsigned generation) { return id::make(3, generation, 0); }

class ReferencesTest : public ::testing::TestWithParam<unsigned> {
 protected:
  void begin(unsigned generation) { References::reset(exact, key(generation)); }
  // Do what Registry does.
  bool acquire(unsigned ordinal, unsigned generation) {
    stripe::Name name;
    if (References::acquire_open(references.stripe_of(ordinal), key(generation), &name))
      return true;
    if (!references.acquire_exact(key(generation))) return false;
    open(ordinal, generation);
    return true;
  }
  void open(unsigned ordinal, unsigned generation) { references.open(ordinal, key(generation), 0); }
  bool close(unsigned generation) {
    if (References::end_unused(exact, key(generation))) return true;
    return references.close(key(generation)) == References::Closed::kEnded;
  }
  bool drop(unsigned ordinal) {
    return !References::drop_open(references.stripe_of(ordinal)) && references.drop_exact();
  }

  References::Counter exact{0};
  References::Counter stripes[64] = {};
  References references{exact, stripes, 0, GetParam() - 1};
};

// One thread only attaches and the other only deletes, any number of times.
TEST_P(ReferencesTest, AStripesCountMayWrapAround) {
  if (GetParam() == 1) return;  // both threads share it
  unsigned now = 7;
  for (const uint64_t times : {0x7fffffffu, 0x80000000u, 0x80000001u, 0xffffffffu}) {
    begin(++now);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(acquire(0, now));
    open(1, now);
    references.stripe_of(0).fetch_add(times << 32, kRelaxed);
    references.stripe_of(1).fetch_sub(times << 32, kRelaxed);
    EXPECT_TRUE(acquire(0, now));
    EXPECT_FALSE(drop(1));
    EXPECT_EQ(references.count(), 3u) << times;
    EXPECT_FALSE(close(now));
    EXPECT_EQ(references.count(), 3u) << times;
    EXPECT_FALSE(drop(0));
    EXPECT_FALSE(drop(1));
    EXPECT_TRUE(drop(1)) << times;
  }
}

// A thread whose stripe isn't open yet uses the exact count, which may take any value meanwhile.
TEST_P(ReferencesTest, TheExactCountMayWrapAround) {
  if (GetParam() == 1) return;  // both threads have one stripe
  unsigned now = 7;
  for (const uint64_t times : {0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    begin(++now);
    EXPECT_TRUE(acquire(0, now));
    references.stripe_of(0).fetch_add(times << 32, kRelaxed);
    exact.fetch_sub(times << 32, kRelaxed);
    EXPECT_EQ(references.count(), 1u) << times;
    EXPECT_TRUE(references.acquire_exact(key(now)));
    EXPECT_FALSE(references.drop_exact());
    EXPECT_FALSE(close(now));
    EXPECT_EQ(references.count(), 1u) << times;
    EXPECT_TRUE(drop(1)) << times;
  }
}

// A free that comes again, or late, by an int that has come round.
TEST_P(ReferencesTest, CloseTwice) {
  constexpr unsigned now = 7;
  begin(now);
  EXPECT_TRUE(acquire(0, now));
  EXPECT_FALSE(close(now));
  EXPECT_EQ(references.close(key(now)), References::Closed::kGone);
  EXPECT_EQ(references.count(), 1u);
  EXPECT_TRUE(drop(0));
}

INSTANTIATE_TEST_SUITE_P(Stripes, ReferencesTest, ::testing::Values(1, 2, 8, 64));

}  // namespace
}  // namespace attrcache
