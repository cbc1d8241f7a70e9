// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "readers/readers.h"

#include <new>

namespace attrcache {

Readers::Readers(const Threads& threads, const Memory& memory, bool full_fences)
    : threads_(threads),
      memory_(memory),
      fence_(full_fences),
      near_(make_chunk(0, &allocated_[0])),
      light_(fence_.light() ? near_ : make_chunk(0, &allocated_light_)) {
  chunks_[0].store(reinterpret_cast<uintptr_t>(near_), kRelaxed);
}

Readers::~Readers() {
  if (allocated_light_ != nullptr) memory_.release(allocated_light_);
  for (const Atomic<Tomb*>& first : buckets_) {
    for (Tomb* tomb = first.load(kRelaxed); tomb != nullptr;) {
      Tomb* const next = tomb->next;
      memory_.destroy(tomb);
      tomb = next;
    }
  }
  for (const Atomic<uintptr_t>& chunk : chunks_) {
    const auto c = static_cast<unsigned>(&chunk - chunks_);
    auto* const records = reinterpret_cast<ThreadRecord*>(chunk.load(kRelaxed));
    if (records == nullptr) continue;
    for (unsigned r = 0; r < length_of(c); ++r) {
      for (uintptr_t more = records[r].more.load(kRelaxed); more != 0;) {
        auto* const cells = reinterpret_cast<MoreCells*>(more);
        more = cells->next;
        memory_.destroy(cells);
      }
    }
    memory_.release(allocated_[c]);
  }
}

ThreadRecord* Readers::make_chunk(unsigned chunk, void** allocated) {
  const unsigned length = length_of(chunk);
  constexpr size_t kSlack = alignof(ThreadRecord) - kAllocationAlignment;
  *allocated = memory_.allocate(length * sizeof(ThreadRecord) + kSlack);
  if (*allocated == nullptr) return nullptr;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(*allocated) + kSlack;
  auto* const records = reinterpret_cast<ThreadRecord*>(begin - begin % alignof(ThreadRecord));
  for (unsigned r = 0; r < length; ++r) {
    auto* const record = new (&records[r]) ThreadRecord();
    record->readers = this;
    record->free = &record->other;
    record->first.what.store(uintptr_t(Says::kTaken), kRelaxed);
    record->deletes.what.store(uintptr_t(Says::kTaken), kRelaxed);
  }
  return records;
}

ThreadRecord* Readers::look_up() {
  const unsigned ordinal = thread_ordinal();
  const unsigned c = chunk_of(ordinal);
  if (c >= kChunks) return nullptr;
  uintptr_t chunk = chunks_[c].load(kAcquire);  // pairs with the exchange below
  if (chunk == 0) [[unlikely]] {
    void* allocated;
    ThreadRecord* const made = make_chunk(c, &allocated);
    if (made == nullptr) return nullptr;
    // Releases the new chunk, or acquires another thread's. What is published here comes before the
    // fence of the first announcement in it, as seen by a thread that looks (F1, F2).
    if (chunks_[c].compare_exchange_strong(chunk, reinterpret_cast<uintptr_t>(made), kAcqRel,
                                           kAcquire)) {
      chunk = reinterpret_cast<uintptr_t>(made);
      allocated_[c] = allocated;
    } else {
      memory_.release(allocated);
    }
  }
  // Relaxed: a thread that looks needs only that this comes before the first announcement.
  unsigned highest = highest_.load(kRelaxed);
  while (highest < ordinal &&
         !highest_.compare_exchange_weak(highest, ordinal, kRelaxed, kRelaxed)) {
  }
  auto* const record = reinterpret_cast<ThreadRecord*>(chunk) + (ordinal - first_of(c));
  record->active = true;
  // From here on its thread may take the fast path.
  if (c == 0 && !threads_.hooked() &&
      record->first.what.load(kRelaxed) == uintptr_t(Says::kTaken)) {
    record->first.what.store(0, kRelease);  // as in take()
    record->deletes.what.store(0, kRelease);
  }
  return record;
}

Announcement* Readers::take_slowly() {
  ThreadRecord* const record = mine();
  if (record == nullptr) return nullptr;
  // (F2) With user-level threads, another thread may have released the cell.
  const auto add_if_free = [record](Announcement& cell) {
    if (AsymmetricFence::look(cell.what) == 0) add_free(*record, cell);
    return false;
  };
  if (record->free == nullptr) any_of(*record, add_if_free);
  if (record->free == nullptr) {
    auto* const more = memory_.make<MoreCells>();
    if (more == nullptr) return nullptr;
    more->next = record->more.load(kRelaxed);
    record->more.store(reinterpret_cast<uintptr_t>(more), kRelease);  // as in look_up()
    any_of(*record, add_if_free);
  }
  return take_of(*record, threads_.identity());
}

Tomb* Readers::place_tomb(const Pair& slot) {
  Atomic<Tomb*>& first = buckets_[bucket(&slot)];
  Tomb* placed = nullptr;
  for_each_tomb_in(first, [&placed](Tomb& tomb) {
    if (placed == nullptr && tomb.place()) placed = &tomb;
  });
  if (placed == nullptr) {
    placed = memory_.make<Tomb>();
    if (placed == nullptr) return nullptr;
    placed->place();
    Tomb* next = first.load(kRelaxed);
    do {
      placed->next = next;
      // Release: pairs with for_each_tomb_in(), for the tombs behind it, too.
    } while (!first.compare_exchange_weak(next, placed, kRelease, kRelaxed));
  }
  tombs_.fetch_add(1, kRelaxed);  // the heavy fence orders it (L8)
  return placed;
}

}  // namespace attrcache
