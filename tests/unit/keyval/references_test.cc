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
    if (References::acquire_in(all.of(ordinal), key(generation))) return true;
    if (!references.acquire_exact(key(generation))) return false;
    open(ordinal, generation);
    return true;
  }
  void open(unsigned ordinal, unsigned generation) {
    references.open(ordinal, stripe::name(key(generation), 0));
  }
  bool close(unsigned generation) {
    if (References::end_unused(exact, key(generation))) return true;
    return references.close(key(generation)) == References::Closed::kEnded;
  }
  bool drop(unsigned ordinal) {
    return !References::drop_open(all.of(ordinal)) && references.drop_exact();
  }
  unsigned open_stripes() const {
    unsigned count = 0;
    for (unsigned s = 0; s < GetParam(); ++s) count += References::is_open(all.of(s));
    return count;
  }

  References::Counter exact{0};
  References::Counter stripes[64] = {};
  References::Stripes all{stripes, 0, GetParam() - 1};
  References references{exact, all};
};

// One thread only attaches and the other only deletes, any number of times.
TEST_P(ReferencesTest, AStripesCountMayWrapAround) {
  if (GetParam() == 1) return;  // both threads share it
  for (const uint64_t times : {0x7fffffffu, 0x80000000u, 0x80000001u, 0xffffffffu}) {
    begin(7);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(acquire(0, 7));
    open(1, 7);
    all.of(0).fetch_add(times << 32, kRelaxed);
    all.of(1).fetch_sub(times << 32, kRelaxed);
    EXPECT_TRUE(acquire(0, 7));
    EXPECT_FALSE(drop(1));
    EXPECT_EQ(references.count(), 3u) << times;
    EXPECT_FALSE(close(7));
    EXPECT_EQ(references.count(), 3u) << times;
    EXPECT_FALSE(drop(0));
    EXPECT_FALSE(drop(1));
    EXPECT_TRUE(drop(1)) << times;
  }
}

// To create and free a keyval costs the same whatever the number of stripes.
TEST_P(ReferencesTest, AStripeIsOpenedByItsFirstUse) {
  begin(7);
  EXPECT_EQ(open_stripes(), 0u);
  EXPECT_TRUE(acquire(1, 7));
  EXPECT_TRUE(References::is_open(all.of(1)));
  const unsigned at_once = open_stripes();
  EXPECT_LE(at_once, 4u) << "the stripes of one group";
  EXPECT_TRUE(acquire(1, 7));
  EXPECT_EQ(open_stripes(), at_once);
  EXPECT_EQ(all.of(1).load(kRelaxed) >> 32, 1u) << "the first was counted elsewhere";
  EXPECT_EQ(references.count(), 2u);
  for (unsigned ordinal = 0; ordinal < GetParam(); ++ordinal) open(ordinal, 7);
  EXPECT_EQ(open_stripes(), GetParam());
  EXPECT_FALSE(drop(2));
  EXPECT_FALSE(drop(3));
  EXPECT_EQ(references.count(), 0u);
  EXPECT_TRUE(close(7)) << "whatever each stripe counts";
  EXPECT_EQ(open_stripes(), 0u);
}

// An opener never opens its stripe, so all others of its group use the exact count, which may take
// any value meanwhile.
TEST_P(ReferencesTest, TheExactCountMayWrapAround) {
  if (GetParam() == 1) return;  // both threads are in one group
  for (const uint64_t times : {0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    begin(7);
    EXPECT_TRUE(acquire(0, 7));
    all.of(0).fetch_add(times << 32, kRelaxed);
    exact.fetch_sub(times << 32, kRelaxed);
    EXPECT_EQ(references.count(), 1u) << times;
    EXPECT_TRUE(references.acquire_exact(key(7)));
    EXPECT_FALSE(references.drop_exact());
    EXPECT_FALSE(close(7));
    EXPECT_EQ(references.count(), 1u) << times;
    EXPECT_TRUE(drop(1)) << times;
  }
}

INSTANTIATE_TEST_SUITE_P(Stripes, ReferencesTest, ::testing::Values(1, 2, 8, 64));

}  // namespace
}  // namespace attrcache
