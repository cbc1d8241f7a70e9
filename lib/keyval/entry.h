// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a domain keeps for each keyval: an Entry, which is found by the keyval's index. Entries are
// not unmapped while the domain lives, so any int may be looked up at any time.
//
// A keyval's callbacks are in its Record. When the keyval is gone, its record is retired, because a
// thread that is stopped within introspection may still be reading it. The index doesn't wait for
// that: the next keyval of the index may be made before the record's grace period is over. Usually
// it is over, and the new keyval uses the record in the entry. Otherwise it gets a record from the
// heap, which is released after a grace period of its own.

#ifndef ATTRCACHE_KEYVAL_ENTRY_H_
#define ATTRCACHE_KEYVAL_ENTRY_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "epoch/epoch.h"
#include "keyval/references.h"
#include "platform/atomic.h"

namespace attrcache {

// A thread that holds a reference on the keyval may use `callbacks`. Others may look at them while
// they have the epoch pinned. An entry's own record has no `reclaim`.
struct Record : Retired {
  attrcache_callbacks callbacks;
};
static_assert(sizeof(Record) <= 88, "attrcache.h says what a record takes");

// The word of an entry. Its low half is the keyval while that exists, no_keyval() when it is gone,
// and 0 if the index was never used. Above that are the flags of the keyval's stripes, and others.
namespace entry_word {
inline constexpr uint64_t kKeyval = 0xffffffff;
inline constexpr unsigned kFlagsShift = 32;
// Without a keyval: a thread is about to make one here, or has not yet ended the one before.
inline constexpr uint64_t kTaken = uint64_t{1} << 45;
inline constexpr uint64_t kFreed = uint64_t{1} << 46;  // by attrcache_keyval_free
inline constexpr unsigned kGenerationsShift = 48;      // 9 bits: generations handed out

// Counts one more generation. The count is modulo 256, with 256 added once there were that many: so
// check() knows whether a generation was ever handed out.
constexpr uint32_t one_generation_more(uint32_t generations) {
  return ((generations + 1) & (2 * id::kGenerations - 1)) | (generations & id::kGenerations);
}

// The low half when the keyval is gone. It differs from every int whose offset leads to this entry,
// even from 0, so that no look-up finds it.
constexpr uint64_t no_keyval(id::Offset offset) { return id::bytes(offset) ^ 1 << id::kIndexShift; }

// The word of a free index that a thread takes.
constexpr uint64_t as_taken(uint64_t word, id::Offset offset) {
  return word | kTaken | no_keyval(offset);
}

// The flags of its stripes.
constexpr uint32_t flags(uint64_t word) {
  return static_cast<uint32_t>(word >> kFlagsShift) & stripe::kFlags;
}
static_assert(((kTaken | kFreed) >> kFlagsShift & stripe::kFlags) == 0);

// The low half.
constexpr id::Keyval keyval(uint64_t word) { return id::Keyval{static_cast<uint32_t>(word)}; }
// Whether the keyval of the entry exists, freed or not.
constexpr bool exists(uint64_t word) { return (word & id::kMarker) != 0; }
// Whether a thread may take the index for a new keyval.
constexpr bool is_free(uint64_t word) { return (word & (id::kMarker | kTaken)) == 0; }
}  // namespace entry_word

// An index that was never used has zero bytes here. The size must be a multiple of a slot's size,
// because a look-up starts from the offset of the keyval's slot.
struct alignas(1 << id::kIndexShift) Entry {
  Atomic<uint64_t> word;
  Atomic<uint64_t> exact;  // belongs to References
  Atomic<uint64_t> uses;   // how many keyvals of this index were made
  Atomic<Record*> record;  // the record of the keyval; means nothing where none exists
  Record own;
};
static_assert(sizeof(Entry) % (1 << id::kIndexShift) == 0);
static_assert(sizeof(void*) != 8 || sizeof(Entry) == 128,
              "get's look-up scales an offset by a power of two");

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_ENTRY_H_
