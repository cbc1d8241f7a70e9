// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/language.h"

#include <gtest/gtest.h>

namespace attrcache {
namespace {

TEST(LanguageTest, IntsAreKeptSignExtended) {
  EXPECT_EQ(stored(-5, ATTRCACHE_AS_INT), ~uint64_t{4});
  EXPECT_EQ(stored(static_cast<intptr_t>(0x100000007), ATTRCACHE_AS_FINT), 7u);
  EXPECT_EQ(stored(static_cast<intptr_t>(0x80000000), ATTRCACHE_AS_FINT), 0xffffffff80000000u);
  EXPECT_EQ(stored(INTPTR_MAX, ATTRCACHE_AS_AINT), uint64_t{INTPTR_MAX});
  EXPECT_EQ(stored(-7, ATTRCACHE_AS_AINT), uint64_t{0} - 7);
  EXPECT_EQ(stored(-1, ATTRCACHE_AS_POINTER), ~uint64_t{0});
}

TEST(LanguageTest, CSeesPointersThemselvesAndTheAddressOfAllElse) {
  const uint64_t at = 0x1234;
  EXPECT_EQ(seen_by_c(&at, ATTRCACHE_AS_POINTER), reinterpret_cast<void*>(0x1234));
  for (const attrcache_tag tag : {ATTRCACHE_AS_INT, ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT}) {
    EXPECT_EQ(seen_by_c(&at, tag), &at);
  }
}

}  // namespace
}  // namespace attrcache
