// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// attrcache_inline.h has the look at a slot by which get begins, in C. This compares what it takes
// tables and kinds to be with what they are. A program that includes it links with the definition
// at the end, which has another name in a library that it doesn't fit.

#include <cstddef>

#include "attrcache/attrcache_inline.h"
#include "keyval/id.h"
#include "keyval/registry.h"
#include "platform/pair.h"
#include "table/meta.h"
#include "table/table.h"

namespace attrcache {

static_assert(ATTRCACHE_INLINE_SLOTS_AT == offsetof(Table, inline_slots));
static_assert(offsetof(Table, directory) == 0 && offsetof(Directory, leaves) == 0);
static_assert(sizeof(Atomic<Directory*>) == sizeof(void*) && sizeof(Place) == sizeof(void*));
static_assert(ATTRCACHE_INLINE_SLOTS_END == kInlineSlots << id::kIndexShift);
static_assert(ATTRCACHE_INLINE_NEAR_END == kDirectorySlots << id::kIndexShift);
static_assert(1u << ATTRCACHE_INLINE_LEAF_SHIFT == sizeof(Leaf::slots) &&
              offsetof(Leaf, slots) == 0);
static_assert(ATTRCACHE_INLINE_IN_LEAF == (kLeafSlots - 1) << id::kIndexShift);
static_assert(ATTRCACHE_INLINE_TREE * sizeof(void*) == offsetof(Directory, root) &&
              ATTRCACHE_INLINE_FANOUT_BITS == kFanoutBits &&
              ATTRCACHE_INLINE_NUMBER_AT == offsetof(Leaf, number) && Child::kIsNode == 1 &&
              sizeof(Node) == kFanout * sizeof(void*));
static_assert(ATTRCACHE_INLINE_OFFSET_MASK == (id::kMarkerMask | id::kOffsetMask));
static_assert(ATTRCACHE_KEYVAL_MIN == id::kMarker);
static_assert(ATTRCACHE_INLINE_AS_POINTER == meta::kSameAsPointer);
static_assert(ATTRCACHE_INLINE_ATTRIBUTE == meta::kSameAttribute);
static_assert(ATTRCACHE_INLINE_CHANGING == pair_bits::kChanging);
#ifdef __LP64__
static_assert(ATTRCACHE_INLINE_ENTRIES_AT == Registry::first_entries_at());
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // no base, nothing virtual
static_assert(offsetof(Entry, word) == 0);
#pragma GCC diagnostic pop
static_assert(sizeof(Entry) == size_t{1} << (id::kIndexShift + ATTRCACHE_INLINE_ENTRY_SHIFT));
static_assert(Registry::kFirstChunkLength == kDirectorySlots);
static_assert(entry_word::kKeyval == 0xffffffff);
#endif
#if defined(__x86_64__) && defined(ATTRCACHE_HAS_WIDE_LOAD) && defined(ATTRCACHE_INLINE_STEPS)
#error "attrcache: attrcache_inline.h and platform/pair.h choose another load"
#endif

}  // namespace attrcache

extern "C" const char ATTRCACHE_INLINE_FITS = 1;
