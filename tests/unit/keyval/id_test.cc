// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/id.h"

#include <gtest/gtest.h>

namespace attrcache::id {
namespace {

TEST(IdTest, PartsComeBackAsTheyWentIn) {
  for (unsigned kind = 0; kind < kMaxKinds; ++kind) {
    for (const unsigned generation : {0u, 1u, 127u, 128u, 255u}) {
      for (const uint32_t i : {0u, 1u, 2u, 63u, 64u, 131006u, 131071u}) {
        const Keyval keyval = make(kind, generation, i);
        EXPECT_TRUE(well_formed(keyval));
        EXPECT_EQ(id::kind(keyval), kind);
        EXPECT_EQ(id::generation(keyval), generation);
        EXPECT_EQ(index(keyval), i);
        EXPECT_EQ(bytes(slot_offset(keyval)), i * 16);
        EXPECT_GT(static_cast<int>(keyval), 0);
      }
    }
  }
}

TEST(IdTest, IntsThatAreNoKeyvalsHaveAnOffsetBeyondAll) {
  for (unsigned top = 0; top < 8; ++top) {
    for (const uint32_t low : {0u, 0x10u, 0x1fffffffu, 0x1ffff0u}) {
      const Keyval keyval{top << 29 | low};
      EXPECT_EQ(well_formed(keyval), top == 2);
      if (top != 2) {
        EXPECT_GT(bytes(slot_offset(keyval)), kOffsetMask);
      }
    }
  }
}

// The keyvals of others. Those of Open MPI are small positive ints. Those of MPICH are 0x64400000
// and above, or negative. The MPI-5 ABI defines some up to 0x3ff.
TEST(IdTest, DisjointFromWhatTheMpisHandOut) {
  EXPECT_GT(ATTRCACHE_KEYVAL_MIN, 0x100000);
  EXPECT_LT(ATTRCACHE_KEYVAL_MAX, 0x64400000);
}

}  // namespace
}  // namespace attrcache::id
