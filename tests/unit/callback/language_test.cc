// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/language.h"

#include <gtest/gtest.h>

#include <cstring>

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
  // There it finds an int or an Aint, wherever the processor has the low bits of a word.
  for (const attrcache_tag tag : {ATTRCACHE_AS_INT, ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT}) {
    const auto* seen = static_cast<const char*>(seen_by_c(&at, tag));
    intptr_t aint = 0;
    int number = 0;
    if (tag == ATTRCACHE_AS_AINT) {
      std::memcpy(&aint, seen, sizeof(aint));
      EXPECT_EQ(aint, 0x1234);
    } else {
      std::memcpy(&number, seen, sizeof(number));
      EXPECT_EQ(number, 0x1234);
    }
    EXPECT_GE(seen, reinterpret_cast<const char*>(&at));
    EXPECT_LT(seen, reinterpret_cast<const char*>(&at + 1));
  }
}

}  // namespace
}  // namespace attrcache
