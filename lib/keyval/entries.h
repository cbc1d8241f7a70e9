// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a domain keeps for each keyval of one kind: an Entry, which is found by the keyval's index,
// and the counters of its references. Neither moves or is unmapped while the domain lives, so any
// int may be looked up at any time.
//
// A keyval's callbacks are in its Record. When the keyval is gone, its record is retired, because a
// thread that is stopped within introspection may still be reading it. The index doesn't wait for
// that: the next keyval of the index may be made before the record's grace period is over. Usually
// it is over, and the new keyval uses the record in the entry. Otherwise it gets a record from the
// heap, which is released after a grace period of its own.
//
// Indices are kept in chunks, each twice as large as the one before. Chunk c holds those indices
// for which the highest bit of (offset + 64 * 16) is bit c. (The offset is 16 times the index, see
// id::offset; look-ups use it because that saves them a shift or two.) A chunk's memory holds its
// entries, and after them its reference counters, stripe by stripe. Of each of these two arrays the
// address is kept less what the chunk's first index adds to it, so that an index can be added as it is.
//
// Free indices are found by a cursor that goes round the indices in use, so that an index rests for
// most of a round between two keyvals, and stale keyvals are recognized for long. At the end of a
// round that has taken few indices the cursor goes on to new ones. The cursor is one word, which
// only compare-and-swap changes:
//
//   Q1 The cursor moves behind the first free index that it meets.
//   Q2 That index is taken, in its entry's word; unless another thread has taken it, which came by
//      a round later, while this one was stopped.
//   Q3 The index is free again.

#ifndef ATTRCACHE_KEYVAL_ENTRIES_H_
#define ATTRCACHE_KEYVAL_ENTRIES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "attrcache/attrcache.h"
#include "epoch/epoch.h"
#include "keyval/id.h"
#include "keyval/references.h"
#include "platform/atomic.h"
#include "platform/memory.h"

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

// The cursor's word: the offset from which it goes on, how many indices there are, how many of them
// the round has taken, and the number of the round, by which a thread sees that it has gone on.
namespace cursor {
inline constexpr unsigned kUsedShift = 22, kTakenShift = 40, kRoundShift = 58;
constexpr uint64_t of(uint32_t at, uint32_t used, uint32_t taken) {
  return id::bytes(id::offset_at(at)) | uint64_t{used} << kUsedShift |
         uint64_t{taken} << kTakenShift;
}
constexpr size_t at(uint64_t cursor) { return cursor & ((1u << kUsedShift) - 1); }
constexpr uint32_t used(uint64_t cursor) { return cursor >> kUsedShift & ((1u << 18) - 1); }
constexpr uint32_t taken(uint64_t cursor) { return cursor >> kTakenShift & ((1u << 18) - 1); }
constexpr uint64_t next_round(uint64_t cursor) {
  return of(0, used(cursor), 0) | ((cursor >> kRoundShift) + 1) << kRoundShift;
}
}  // namespace cursor

class Entries {
 public:
  // `stripes` is a power of two.
  explicit Entries(unsigned stripes) : stripe_mask_(stripes - 1) {}
  Entries(const Entries&) = delete;
  Entries& operator=(const Entries&) = delete;

  // The counters of this many indices, which most programs never exceed, exist as soon as a keyval
  // was made.
  static constexpr uint32_t kFirstChunkLength = 64;
  static constexpr uint32_t kFirstChunkEnd = kFirstChunkLength << id::kIndexShift;

  // The reference counter, in the stripe of the thread with that ordinal, of the keyval at any
  // offset; behind it are those of the others in its chunk. Null if there never was one.
  [[gnu::always_inline]] References::Counter* counters(id::Offset offset, unsigned ordinal) const {
    if (id::bytes(offset) < kFirstChunkEnd) [[likely]]
      return counters(kFirstChunk, offset, ordinal);
    return counters(chunk_of(offset), offset, ordinal);
  }

  // Calls visit(Entry&, references) for every index that was ever used, without a pin.
  template <typename Visit>
  void for_each_entry(Visit visit) const {
    const uint32_t end = used_indices();
    for (unsigned c = kFirstChunk; first_index(c) < end; ++c) {
      Entry* entry = &at(id::offset_at(first_index(c)));
      References::Counter* counter = counters_[c].load(kAcquire) + first_index(c);  // (K5)
      Entry* const last = entry + std::min(length(c), end - first_index(c));
      for (; entry != last; ++entry, ++counter)
        visit(*entry, References(entry->exact, counter, c - id::kIndexShift, stripe_mask_));
    }
  }

  // Where the address of the first chunk's entries is within this: for attrcache_inline.h.
  static constexpr size_t first_entries_at() {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // nothing virtual: it is where it looks
    return offsetof(Entries, chunks_) + kFirstChunk * sizeof(Atomic<uintptr_t>);
#pragma GCC diagnostic pop
  }

 private:
  static constexpr unsigned kFirstChunk = 6 + id::kIndexShift;
  static constexpr unsigned kChunks = 17 + id::kIndexShift;
  static_assert(kFirstChunkLength == 1u << (kFirstChunk - id::kIndexShift));

 public:
  // A round takes at least kRound indices: so many that stale keyvals are recognized for 16,000
  // creations (a thread that is stopped between Q1 and Q2 for a whole round makes that one less),
  // and so few that a program with one or two keyvals at a time goes on getting the first 64. And
  // it takes a quarter of all: beside many keyvals a creation looks at four entries, on average.
#if defined(ATTRCACHE_MODEL)
  static constexpr uint32_t kRound = 2, kCapacity = 128;  // few enough for a model to use them all
#else
  static constexpr uint32_t kRound = 63;
  static constexpr uint32_t kCapacity = (1u << (kChunks - id::kIndexShift)) - kFirstChunkLength;
  static_assert(kRound * (id::kGenerations - 1) >= 16000, "attrcache.h says so");
#endif

 protected:
  // Takes a free index, and returns its entry, which belongs to the caller until it stores a keyval
  // there or calls put_back(). Null: *error says why; KEYVALS_EXHAUSTED: none is free. Lock-free,
  // but for the allocator.
  [[gnu::always_inline]] Entry* take(const Memory& memory, id::Offset* taken, int* error);
  // Frees an index that the caller has taken, or whose keyval it has ended.
  static void put_back(Entry& entry) {
    // (Q3) release: the next thread to take it (Q2) sees all that was done to the entry.
    entry.word.store(entry.word.load(kRelaxed) & ~entry_word::kTaken, kRelease);
  }

  // Releases all memory.
  void release(const Memory& memory);

  static size_t chunk_of(id::Offset offset) {
    return static_cast<uint32_t>(__builtin_clzll(id::bytes(offset) + kFirstChunkEnd)) ^ 63;
  }
  static constexpr uint32_t length(size_t c) { return 1u << (c - id::kIndexShift); }
  static constexpr uint32_t first_index(size_t c) { return length(c) - kFirstChunkLength; }

  static Entry* entry_at(uintptr_t chunk, id::Offset offset) {
    return reinterpret_cast<Entry*>(chunk + id::bytes(offset) * (sizeof(Entry) >> id::kIndexShift));
  }

  // The chunk of any offset, or 0.
  uintptr_t chunk_at(id::Offset offset) const {
    return chunks_[chunk_of(offset)].load(kAcquire);  // (K5) pairs with K6
  }
  // The entry of an index whose chunk exists.
  Entry& at(id::Offset offset) const { return *entry_at(chunk_at(offset), offset); }

  // The word of the entry of any offset, or 0.
  uint64_t word_at(id::Offset offset) const {
    const uintptr_t chunk = chunk_at(offset);
    if (chunk == 0) [[unlikely]]
      return 0;
    return entry_at(chunk, offset)->word.load(kAcquire);  // (K1) pairs with K2
  }

  // The references of an index whose chunk exists.
  References references(id::Offset offset) const {
    const size_t c = chunk_of(offset);
    return {at(offset).exact, counters_[c].load(kAcquire) + id::index(offset),  // (K5)
            static_cast<unsigned>(c) - id::kIndexShift, stripe_mask_};
  }

  // All indices that were ever used are below this one.
  uint32_t used_indices() const {
    return cursor::used(cursor_.load(kAcquire));  // pairs with K7
  }

 private:
  bool ensure_chunk(size_t c, const Memory& memory);
  // Begins a new round, or adds an index to this one: `now` is the cursor, and no index from there
  // on is free.
  [[gnu::noinline]] int end_round(uint64_t now, const Memory& memory);
  [[gnu::always_inline]] References::Counter* counters(size_t c, id::Offset offset,
                                                       unsigned ordinal) const {
    References::Counter* const counters = counters_[c].load(kAcquire);  // (K5) pairs with K6
    if (counters == nullptr) [[unlikely]]
      return nullptr;
    return counters + id::index(offset) + (size_t{ordinal & stripe_mask_} << (c - id::kIndexShift));
  }

  // The extra last entry stays 0, so out-of-range indices find no chunk.
  Atomic<uintptr_t> chunks_[kChunks + 1] = {};
  Atomic<References::Counter*> counters_[kChunks + 1] = {};
  const unsigned stripe_mask_;
  Atomic<uint64_t> cursor_{0};
};

inline Entry* Entries::take(const Memory& memory, id::Offset* taken, int* error) {
  for (;;) {
    uint64_t now = cursor_.load(kAcquire);  // pairs with K7
    const size_t from = cursor::at(now), end = id::bytes(id::offset_at(cursor::used(now)));
    Entry* entry = nullptr;
    uint64_t word = 0;
    size_t offset = from;
    for (; offset != end; offset += id::bytes(id::offset_at(1))) {
      entry = &at(id::Offset(offset));
      word = entry->word.load(kAcquire);  // pairs with Q2, for end_round()
      if (entry_word::is_free(word)) [[likely]]
        break;
    }
    if (offset == end) [[unlikely]] {
      *error = end_round(now, memory);
      if (*error != ATTRCACHE_OK) return nullptr;
      continue;
    }
    *taken = id::Offset(offset);
    const uint64_t behind = now + (offset - from) + cursor::of(1, 0, 1);
    // (Q1) Release: a thread that sees the cursor here sees what this one has freed before, or
    // might find every index in use. It continues the release sequence of K7.
    // (Q2) Acquire: pairs with Q3. Release: who finds the index taken sees the cursor moved.
    if (cursor_.compare_exchange_strong(now, behind, kRelease, kRelaxed) &&
        entry->word.compare_exchange_strong(word, entry_word::as_taken(word, *taken), kAcqRel,
                                            kRelaxed)) [[likely]]
      return entry;
  }
}

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_ENTRIES_H_
