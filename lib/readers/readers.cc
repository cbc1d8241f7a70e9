// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "readers/readers.h"

#include <new>
#include <utility>

namespace attrcache {
namespace {

// Aligned memory from an allocator that aligns to less. Before it is the address to be released.
void* allocate_aligned(const Memory& memory, size_t bytes, size_t alignment) {
  void* const allocated = memory.allocate(bytes + alignment);
  if (allocated == nullptr) return nullptr;
  const uintptr_t end = reinterpret_cast<uintptr_t>(allocated) + alignment;
  auto* const aligned = reinterpret_cast<void**>(end - end % alignment);
  aligned[-1] = allocated;
  return aligned;
}
void release_aligned(const Memory& memory, void* aligned) {
  memory.release(static_cast<void**>(aligned)[-1]);
}

// Puts a tomb first in a list. Release: pairs with walks along the list, also with one that is at
// the tomb since before that was unlinked; it goes on to what others pushed, hence the acquire.
void push(Atomic<Tomb*>& first, Tomb& tomb, Atomic<Tomb*>& next) {
  Tomb* now = first.load(kAcquire);
  do {
    next.store(now, kRelease);
  } while (!first.compare_exchange_weak(now, &tomb, kRelease, kAcquire));
}

}  // namespace

Readers::Readers(const Threads& threads, const Memory& memory, bool full_fences)
    : threads_(threads), memory_(memory), fence_(full_fences), near_(make_group()) {
  groups_[0].store(near_, kRelaxed);
}

Readers::~Readers() {
  for (const TombBucket& bucket : buckets_) {
    for (Tomb* tomb = bucket.made.load(kRelaxed); tomb != nullptr;) {
      Tomb* const next = tomb->next_made.load(kRelaxed);
      memory_.destroy(tomb);
      tomb = next;
    }
  }
  // The first group may not have been entered. Relaxed: nobody else is there any more.
  for (unsigned group = 0; group == 0 || group < active_.end(); ++group) {
    ThreadRecord* const records = group_at(group);
    if (records == nullptr) continue;
    for (unsigned r = 0; r < kNearOrdinals; ++r) {
      if (records[r].tomb != nullptr) memory_.destroy(records[r].tomb);
      while (LinkedCell* const cell = records[r].linked.load(kRelaxed)) records[r].unlink(*cell);
      while (LinkedCell* const cell = records[r].spare) {
        records[r].spare = cell->spare;
        if (cell != &records[r].second) release_aligned(memory_, cell);
      }
    }
    release_aligned(memory_, records);
  }
}

ThreadRecord* Readers::make_group() {
  auto* const records = static_cast<ThreadRecord*>(
      allocate_aligned(memory_, kNearOrdinals * sizeof(ThreadRecord), alignof(ThreadRecord)));
  if (records == nullptr) return nullptr;
  for (unsigned r = 0; r < kNearOrdinals; ++r) (new (&records[r]) ThreadRecord())->readers = this;
  return records;
}

ThreadRecord* Readers::look_up() {
  const unsigned ordinal = thread_ordinal();
  const unsigned group = ordinal / kNearOrdinals;
  if (group >= ActiveRecords::kGroups) return nullptr;
  ThreadRecord* first = groups_[group].load(kAcquire);  // pairs with the exchange below
  if (first == nullptr) [[unlikely]] {
    ThreadRecord* const made = make_group();
    if (made == nullptr) return nullptr;
    // Releases the new records, or acquires another thread's.
    if (groups_[group].compare_exchange_strong(first, made, kAcqRel, kAcquire)) {
      first = made;
    } else {
      release_aligned(memory_, made);
    }
  }
  ThreadRecord& record = first[ordinal % kNearOrdinals];
  const uint64_t me = this_thread().identity;
  if (record.owner != me) [[unlikely]] {
    record.owner = me;
    // What the last thread has left borrowed stays its own. And user-level threads don't use this
    // cell, because they may move to another record.
    if (Announcement::is_free(record.first.what.load(kRelaxed)) && !threads_.hooked()) {
      record.first.thread.store(me, kRelaxed);
      record.first.what.store(me, kRelease);  // (F1) with what the last thread did
    }
    active_.enter(group, first->group, ordinal % kNearOrdinals);
  }
  return &record;
}

// Ensures that a record has a spare cell, and unlinks those that others have released. False: out
// of memory.
bool Readers::find_spare(ThreadRecord& record) {
  LinkedCell* next = record.returned.exchange(nullptr, kAcquire);  // pairs with release_another()
  while (next != nullptr) {
    LinkedCell& cell = *next;
    next = cell.spare;
    record.unlink(cell);
  }
  if (record.spare == nullptr) {
    void* const memory = allocate_aligned(memory_, sizeof(LinkedCell), alignof(LinkedCell));
    if (memory != nullptr) record.spare = new (memory) LinkedCell(&record);
  }
  return record.spare != nullptr;
}

Announcement* Readers::take_another(uint64_t what) {
  ThreadRecord* record = &near_record();
  if (record->owner != this_thread().identity) [[unlikely]] {
    record = look_up();
    if (record == nullptr) return nullptr;
    if (record->first.what.load(kRelaxed) == this_thread().identity)
      return taken(record->first, what);
  }
  if ((record->spare == nullptr || threads_.hooked()) && !find_spare(*record)) [[unlikely]]
    return nullptr;
  Announcement& cell = record->link().cell;
  cell.thread.store(threads_.hooked() ? threads_.identity() : this_thread().identity, kRelaxed);
  return taken(cell, what);
}

void Readers::release_another(Announcement& released) {
  released.what.store(Announcement::kNobody, kRelease);  // as in retract()
  LinkedCell& cell = LinkedCell::of(released);
  if (mine() == cell.record) [[likely]]
    return cell.record->unlink(cell);
  // A user-level thread has moved since it took the cell.
  LinkedCell* next = cell.record->returned.load(kRelaxed);
  do {
    cell.spare = next;
    // Release: pairs with find_spare().
  } while (!cell.record->returned.compare_exchange_weak(next, &cell, kRelease, kRelaxed));
}

Tomb& Readers::place_tomb(const Pair& slot, uint64_t meta, const void* table) {
  TombBucket& bucket = buckets_[bucket_of(&slot, meta)];
  // Counted before it is taken, so that a tomb that is being placed doesn't pass for a free one;
  // and the thread that takes it when it is open uncounts it. The deleter's fence orders this (L9).
  bucket.in_use.fetch_add(1, kRelaxed);
  Tomb* placed = bucket.made.load(kAcquire);  // pairs with push(), for those behind it, too
  while (placed != nullptr && !placed->place()) placed = placed->next_made.load(kRelaxed);
  if (placed == nullptr) {
    placed = std::exchange(mine()->tomb, nullptr);
    placed->bucket = &bucket;
    placed->place();
    push(bucket.made, *placed, placed->next_made);
  }
  if (!placed->linked) {
    placed->linked = true;
    bucket.linked.fetch_add(1, kRelaxed);  // a count; before another thread may unlink it
    push(bucket.first, *placed, placed->next);
  }
  placed->of_table = &of_tables_[counter_of(table)];
  placed->of_table->fetch_add(1, kRelaxed);
  return *placed;
}

// Unlinks the free tombs behind the first. That stays, so that only push() changes `first`. One
// thread does this at a time; another leaves what it has freed to that one, which looks once more.
// If the bucket is crowded, free tombs are behind the first, until others place them: nobody waits.
void TombBucket::unlink_free() {
  while (crowded()) {
    // Acquires what the thread before has unlinked; or releases what this one has freed.
    if ((linked.fetch_or(kUnlinking, kAcqRel) & kUnlinking) != 0) return;
    uint32_t unlinked = 0;
    Tomb* before = first.load(kAcquire);  // pairs with push(), for those behind it, too
    // Relaxed: nobody else changes the `next` of a linked tomb.
    while (Tomb* const tomb = before->next.load(kRelaxed)) {
      if (tomb->place()) {  // so nobody else places it meanwhile
        // Release: a walk that passes it over sees what its delete_fn did.
        before->next.store(tomb->next.load(kRelaxed), kRelease);
        tomb->linked = false;
        tomb->free();
        ++unlinked;
      } else {
        before = tomb;
      }
    }
    linked.fetch_sub(kUnlinking + unlinked, kAcqRel);  // pairs with the fetch_or
  }
}

}  // namespace attrcache
