// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a domain keeps of one keyval: an Entry, found by index, never unmapped while the domain
// lives, so that any int may be looked up at any time.
//
// A keyval's callbacks are in its Record. When the keyval is gone, its record is retired: a thread
// that is stopped within introspection may still be reading it. The index isn't held up by that, so
// the next keyval of the index may come first. It uses the record in the entry if that one's grace
// period is over, as it nearly always is, and else one from the heap, which is released after its
// own grace period.

#ifndef ATTRCACHE_KEYVAL_ENTRY_H_
#define ATTRCACHE_KEYVAL_ENTRY_H_

#include <cstdint>

#include "callback/executor.h"
#include "epoch/epoch.h"
#include "keyval/references.h"
#include "platform/atomic.h"

namespace attrcache {

// Whoever holds a reference on the keyval may use `callbacks`. Others look under an epoch pin. An
// entry's own record has no `reclaim`.
struct Record : Retired {
  KeyvalCallbacks callbacks;
};
static_assert(sizeof(Record) <= 96, "attrcache.h says what a record takes");

// The word of an entry: in its low half the keyval, as long as it exists, else no_keyval(), or 0
// before it first did. Above it the flags of the keyval's stripes, and more of that kind.
namespace entry_word {
inline constexpr uint64_t kKeyval = 0xffffffff;
inline constexpr unsigned kFlagsShift = 32;
inline constexpr uint64_t kDupFn = uint64_t{stripe::kDupFn} << kFlagsShift;
inline constexpr uint64_t kNullCopyFn = uint64_t{stripe::kNullCopyFn} << kFlagsShift;
inline constexpr uint64_t kNoDeleteFn = uint64_t{stripe::kNoDeleteFn} << kFlagsShift;
inline constexpr uint64_t kOrdinary = uint64_t{1} << 42;  // exists, and isn't predefined
inline constexpr uint64_t kFreed = uint64_t{1} << 43;     // by attrcache_keyval_free
inline constexpr unsigned kTagShift = 44;                 // 2 bits: how a predefined one is set
inline constexpr unsigned kGenerationsShift = 48;         // 9 bits:

// How many generations were handed out: modulo 256, and 256 more once they were that many.
constexpr uint32_t one_generation_more(uint32_t generations) {
  return ((generations + 1) & (2 * id::kGenerations - 1)) | (generations & id::kGenerations);
}

// The low half when the keyval is gone: no keyval, and no int at all that leads to this entry, not
// even 0.
constexpr uint64_t no_keyval(uint32_t offset) {
  return offset ^ uint32_t { 1 } << id::kIndexShift;
}
}  // namespace entry_word

// Zero bytes, but for what is the same in all records, are an index that was never used. Aligned so
// that its size is a multiple of a slot's, of which the look-up knows the offset.
struct alignas(1 << id::kIndexShift) Entry {
  Atomic<uint64_t> word;
  Atomic<uint64_t> exact;  // of References
  Atomic<uint64_t> link;   // of IndexQueue
  Atomic<uint64_t> uses;   // how many keyvals of this index there were
  Atomic<Record*> record;  // of the keyval that exists; else it means nothing
  Record own;
};
static_assert(sizeof(Entry) == 128, "get's look-up scales an offset by a power of two");

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_ENTRY_H_
