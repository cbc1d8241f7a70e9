// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/meta.h"

#include <gtest/gtest.h>

namespace attrcache::meta {
namespace {

constexpr attrcache_tag kTags[] = {ATTRCACHE_AS_POINTER, ATTRCACHE_AS_INT, ATTRCACHE_AS_FINT,
                                   ATTRCACHE_AS_AINT};
constexpr unsigned kSequenceBits = 35;

TEST(MetaTest, WhatIsPutInComesOutAndNothingOverlaps) {
  for (const unsigned kind : {0u, 7u, 15u}) {
    for (const unsigned generation : {0u, 1u, 255u}) {
      for (const attrcache_tag t : kTags) {
        for (const uint64_t number : {uint64_t{1}, uint64_t{0xffffffff}, uint64_t{0x7ffffffff}}) {
          const id::Keyval key = id::make(kind, generation, 9);
          const uint64_t m = attached(stripe::name(key, 0), t, number);
          EXPECT_FALSE(empty(m));
          EXPECT_TRUE(visible(m));
          EXPECT_FALSE(deleting(m));
          EXPECT_FALSE(no_delete_fn(m));
          EXPECT_EQ(tag(m), t);
          EXPECT_EQ(sequence(m), number);
          for (unsigned bit = 0; bit < kSequenceBits; ++bit) {
            EXPECT_FALSE(has(m, number ^ uint64_t{1} << bit, t));
          }
          EXPECT_TRUE(has(m, number + (uint64_t{1} << kSequenceBits), t)) << "numbers wrap";
          for (const attrcache_tag other : kTags) EXPECT_EQ(has(m, number, other), other == t);
          EXPECT_EQ(keyval(m, 9), key);
          EXPECT_TRUE(belongs(m, key));
          for (const uint64_t more : {kUnheld, kNoDeleteFn, kUnheld | kDeleting}) {
            EXPECT_EQ(tag(m | more), t);
            EXPECT_EQ(keyval(m | more, 9), key);
            EXPECT_EQ(sequence(m | more), number);
            EXPECT_EQ(same_attachment(m, m | more), more != kNoDeleteFn);
          }
          EXPECT_EQ(keyval((m | kDeleting) & ~kVisible, 9), key) << "also when hidden";
          EXPECT_FALSE(same_attachment(m, attached(stripe::name(key, 0), t, number - 1)));
          const id::Keyval next = id::make(kind, (generation + 1) % 256, 9);
          EXPECT_FALSE(same_attachment(m, attached(stripe::name(next, 0), t, number)));
        }
      }
    }
  }
}

bool readable_under(id::Keyval keyval, uint64_t m) { return readable(lower(m) ^ id::bits(keyval)); }

TEST(MetaTest, ReadableAtOnceOnlyLightAtRestAndByPointer) {
  const id::Keyval key = id::make(1, 5, 9);
  const uint64_t m = attached(stripe::name(key, 0), ATTRCACHE_AS_POINTER, 1);
  EXPECT_TRUE(readable_under(key, m));
  EXPECT_TRUE(readable_under(key, m | kNoDeleteFn));
  EXPECT_FALSE(readable_under(key, m | kFull)) << "a full reader needs fences";
  EXPECT_FALSE(readable_under(key, m | kDeleting));
  EXPECT_FALSE(readable_under(key, m & ~kVisible));
  EXPECT_FALSE(readable_under(id::make(1, 6, 9), m));
  EXPECT_FALSE(readable_under(key, 0));
  const uint64_t number = attached(stripe::name(key, 0), ATTRCACHE_AS_AINT, 1);
  EXPECT_FALSE(readable_under(key, number));
}

// Unless an index is small, it has bits where a meta has flags.
TEST(MetaTest, ReadableUnderAKeyvalWithoutIndexOrWithASmallOne) {
  for (const uint32_t index : {0u, kReadableIndices - 1, kReadableIndices, 64u, (1u << 17) - 1}) {
    const id::Keyval key = id::make(1, 5, index);
    const uint64_t m = attached(stripe::name(key, 0), ATTRCACHE_AS_POINTER, 1);
    for (const uint64_t flags : {uint64_t{0}, kFull, kFull | kDeleting, kDeleting}) {
      EXPECT_EQ(readable_under(id::without_index(key), m | flags), flags == 0);
      if (index >= kReadableIndices) continue;
      EXPECT_EQ(readable_under(key, m | flags), flags == 0);
    }
  }
}

}  // namespace
}  // namespace attrcache::meta
