// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A 16-byte atomic word of two halves: `value`, which belongs to the user, and `meta`, which says
// what the value is. Only the headers named pair*.h know how a processor reads or exchanges 16
// bytes in one step.
//
//   load                   reads both halves, as of one instant; it writes nothing
//   glimpse                the same, for get. It calls visit(upper half of meta, value), where
//                          value() gives the value half
//   transfer               the same, for dup. It calls visit(upper half of meta, put), where
//                          put(to) copies what was read to another Pair, by store_unshared
//   load_meta              reads the meta half alone; load_upper reads the upper half of meta
//   compare_exchange       exchanges both halves, if both are as expected
//   compare_exchange_meta  exchanges the meta half alone, if it is as expected; it doesn't write
//                          the value half
//   add_meta               adds to the meta half, and returns what was there before
//   store_unshared         stores both halves, not atomically, so no other thread may use the Pair
//   clear_unshared         the same, but only makes meta 0
//   upper_half_of_meta     the address of that half, for those who sleep until it changes (wait.h)
//
// Loads acquire. The exchanges and add_meta acquire and release; an exchange that fails acquires,
// and updates what was expected.
//
// A value may be claimed or pinned by its meta alone (compare_exchange_meta, add_meta). That is
// safe because a meta carries a sequence number: if the meta is unchanged, so is the slot, except
// that a value under a keyval without delete_fn may have been replaced by another one, which may be
// claimed or pinned as well (see successor() in table/slot.h). Claiming and pinning don't write the
// value half, so meanwhile C may read the value by its address.

#ifndef ATTRCACHE_PLATFORM_PAIR_H_
#define ATTRCACHE_PLATFORM_PAIR_H_

// clang-format off
#include "platform/supported.h"
// clang-format on

#include <cstdint>

namespace attrcache {

// What a slot holds at one instant.
struct SlotContent {
  uint64_t value;
  uint64_t meta;
};

// Whether this processor has the instructions that the Pair of this build needs.
bool pair_supported();

}  // namespace attrcache

#if defined(__SANITIZE_THREAD__)
#define ATTRCACHE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ATTRCACHE_TSAN 1
#endif
#endif

#if defined(ATTRCACHE_MODEL)
#include "tests/model/explorer/pair.h"
namespace attrcache {
using Pair = model::Pair;
}  // namespace attrcache
#elif defined(ATTRCACHE_TSAN) || defined(ATTRCACHE_DELAYS)
#include "platform/pair_two_words.h"
namespace attrcache {
using Pair = TwoWordPair;
}  // namespace attrcache
#elif defined(__x86_64__)
#include "platform/pair_x86.h"
#else
#include "platform/pair_arm.h"
#endif

static_assert(sizeof(attrcache::Pair) == 16 && alignof(attrcache::Pair) == 16);

#endif  // ATTRCACHE_PLATFORM_PAIR_H_
