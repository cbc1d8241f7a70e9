// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A 16-byte atomic word of two halves: `value`, which belongs to the user, and `meta`, which says
// what the value is. Nothing else in the library knows how 16 bytes are read or swapped at once.
//
//   load       both halves, as of one instant; writes nothing
//   glimpse    the same for get: visit(upper half of meta, value), where value() fetches the other
//              half, if called
//   transfer   the same for dup: visit(upper half of meta, put), where put(to) gives `to` by
//              store_unshared what was seen
//   load_meta  the meta half alone; load_upper: the upper half of that
//   compare_exchange       both halves, if both are as expected
//   compare_exchange_meta  the meta half alone, if it is as expected; value is not written at all
//   add_meta   adds to the meta half; returns what was there
//   store_unshared  gives both halves a content, and
//   clear_unshared  makes meta 0: no atomic steps, so only where no other thread can look
//   upper_half_of_meta  where the kernel finds it, for those who sleep until it changes (wait.h)
//
// Loads acquire; the others acquire and release, and acquire when they fail, which updates what was
// expected.
//
// Whoever claims or pins a value by its meta alone (compare_exchange_meta, add_meta) may: a meta
// carries a sequence number, so one that is unchanged proves that the slot is as it was, but for
// the value under a keyval without delete_fn, of which every one is as good (see successor() in
// table/slot.h). And no value is written by that, so a C reader may dereference the address of
// `value` meanwhile.

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

// Whether this processor can do what the Pair of this build needs.
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
