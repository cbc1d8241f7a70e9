// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The records of all threads in a domain, in which they announce what they hold, and the tombs that
// say what was left to them (tomb.h has the protocol).

#ifndef ATTRCACHE_READERS_READERS_H_
#define ATTRCACHE_READERS_READERS_H_

#include <cstdint>

#include "callback/threads.h"
#include "platform/asymmetric_fence.h"
#include "platform/memory.h"
#include "readers/thread_record.h"
#include "readers/tomb.h"

namespace attrcache {

class Readers {
 public:
  Readers(const Threads& threads, const Memory& memory, bool full_fences);
  ~Readers();
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  // False: there was no memory for the records, and nothing else may be called.
  bool made() const { return near_ != nullptr && light_ != nullptr; }

  // ---- A thread's own cells ----

  // The record of the calling thread, if its ordinal is near; else one whose `first` and `deletes`
  // are taken for ever.
  ThreadRecord& near_record() const { return mine_of(near_); }
  // The first cells of light readers' records; where readers are full, cells that are taken for
  // ever. So the usual borrow need not ask which sort of readers there are.
  Announcement* light_cells() const { return &light_->first; }
  // The calling thread's own among the near records, or among one cell of each.
  template <typename T>
  static T& mine_of(T* near) {
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(near) + this_thread().near_record);
  }

  // A cell of the calling thread's record, which says kTaken and names the thread; null when out of
  // memory. Wait-free but for the allocator. Not inlined, nor is release(): a callback may move a
  // user-level thread to another OS thread, so thread-local addresses must be computed anew.
  [[gnu::noinline]] Announcement* take() {
    ThreadRecord& near = near_record();
    const bool usual = near.active && near.free != nullptr && !threads_.hooked();
    return usual ? take_of(near, this_thread().identity) : take_slowly();
  }
  // Gives back what take() returned. If it said that a value is held, call end_left() then.
  [[gnu::noinline]] void release(Announcement& cell) {
    retract(cell, 0);
    // A user-level thread may have moved since it took the cell: take_slowly() finds the cell.
    if (threads_.hooked()) return;
    add_free(*mine(), cell);
  }

  // (L1) Announces, in a cell that was taken, that the caller holds an attachment: which it does if
  // its next look at the slot finds the attachment still there (L2). Wait-free.
  void announce(Announcement& cell, const Pair& slot, Says says, uint64_t meta) {
    cell.meta.store(meta, kRelease);  // (F3)
    fence_.announce(cell.what, Announcement::of(&slot, says));
  }
  // (L3) Takes back what was announced; the cell then says `what`. If it said that a value is held,
  // the caller must then call end_left().
  static void retract(Announcement& cell, uintptr_t what) {
    AsymmetricFence::announce<AsymmetricFence::Of::kLight>(cell.what, what);
  }
  // Ends another thread's borrow from a table that is given up; by an exchange, since that thread
  // may be giving it back just now. Relaxed: that thread has read the value, and this hands nothing
  // on.
  static void give_up(Announcement& cell, const Pair& slot) {
    uintptr_t what = Announcement::of(&slot, Says::kBorrows);
    cell.what.compare_exchange_strong(what, uintptr_t(Says::kGivenUp), kRelaxed, kRelaxed);
  }

  // ---- All threads' cells ----

  // Makes what was announced before visible to this thread, and what this thread did before visible
  // to holders that retract later.
  void heavy_fence() const { fence_.heavy_fence(); }
  bool light() const { return fence_.light(); }

  // Looks through all cells until visit(cell, what) returns true, and returns whether one call did.
  // A cell that says the same throughout is visited.
  template <typename Visit>
  bool any(Visit visit) const;

  // ---- Tombs ----

  // (L4) Whether there are tombs, for a thread that has just retracted and is a light reader.
  bool any_tombs() const { return !tombs_.equals_relaxed(0); }
  // The same for a reader of either sort.
  bool any_tombs_after_retraction() const {
    if (!light()) full_fence();
    return any_tombs();
  }
  // (L7) A tomb for a value in that slot, for the caller to fill in; null when out of memory.
  // Lock-free.
  Tomb* place_tomb(const Pair& slot);
  // Ends the use of a tomb that is the caller's.
  void free_tomb(Tomb& tomb) {
    tomb.free();
    tombs_.fetch_sub(1, kRelaxed);
  }
  // Visits the tombs whose slots share a bucket with this slot; or, without a slot, all tombs.
  template <typename Visit>
  void for_each_tomb(const Pair* slot, Visit visit) const {
    for_each_tomb_in(buckets_[bucket(slot)], visit);
  }
  template <typename Visit>
  void for_each_tomb(Visit visit) const {
    for (const Atomic<Tomb*>& first : buckets_) for_each_tomb_in(first, visit);
  }

  const Threads& threads() const { return threads_; }

 private:
  static constexpr unsigned kChunks = 12;  // each with twice as many records as the one before
  static constexpr unsigned kBuckets = 16;
  static unsigned bucket(const Pair* slot) {
    const auto at = reinterpret_cast<uintptr_t>(slot) / sizeof(Pair);
    return (at ^ at / kBuckets) % kBuckets;
  }
  template <typename Visit>
  static void for_each_tomb_in(const Atomic<Tomb*>& first, Visit visit) {
    // Acquire: pairs with place_tomb().
    for (Tomb* tomb = first.load(kAcquire); tomb != nullptr; tomb = tomb->next) visit(*tomb);
  }

  static constexpr unsigned chunk_of(unsigned ordinal) {
    return ordinal < kNearOrdinals ? 0 : 32 - __builtin_clz(ordinal / kNearOrdinals);
  }
  static constexpr unsigned first_of(unsigned chunk) {
    return chunk == 0 ? 0 : kNearOrdinals << (chunk - 1);
  }
  static constexpr unsigned length_of(unsigned chunk) {
    return chunk == 0 ? kNearOrdinals : first_of(chunk);
  }
  static Announcement* take_of(ThreadRecord& record, uint64_t identity) {
    Announcement* const cell = record.free;
    record.free =
        reinterpret_cast<Announcement*>(static_cast<uintptr_t>(cell->more.load(kRelaxed)));
    cell->thread.store(identity, kRelaxed);
    // Release, like every store to `what`: a thread that finds that a holder has let go may have
    // read that here.
    cell->what.store(uintptr_t(Says::kTaken), kRelease);
    return cell;
  }
  // Visits a record's cells but `first` and `deletes`, until visit(cell) returns true; returns
  // whether it did.
  template <typename Visit>
  static bool any_of(ThreadRecord& record, Visit visit) {
    if (visit(record.other)) return true;
    for (uintptr_t more = AsymmetricFence::look(record.more); more != 0;) {
      auto& cells = *reinterpret_cast<MoreCells*>(more);
      for (Announcement& cell : cells.cells) {
        if (visit(cell)) return true;
      }
      more = cells.next;
    }
    return false;
  }
  static void add_free(ThreadRecord& record, Announcement& cell) {
    cell.more.store(reinterpret_cast<uintptr_t>(record.free), kRelaxed);
    record.free = &cell;
  }
  [[gnu::noinline, gnu::cold]] Announcement* take_slowly();
  ThreadRecord* make_chunk(unsigned chunk, void** allocated);
  ThreadRecord* look_up();
  // The record of the calling thread; null when out of memory.
  ThreadRecord* mine() {
    ThreadRecord& near = near_record();
    return near.active ? &near : look_up();
  }

  const Threads& threads_;
  const Memory memory_;
  const AsymmetricFence fence_;
  // What was allocated for the first chunk, which is near_, for the others, and for light_ if that
  // is none of them. A chunk is aligned.
  void* allocated_[kChunks] = {};
  void* allocated_light_ = nullptr;
  ThreadRecord* const near_;
  ThreadRecord* const light_;
  // How many tombs aren't free. In a cache line that is hardly ever written.
  Atomic<uint32_t> tombs_{0};
  Atomic<uintptr_t> chunks_[kChunks] = {};
  Atomic<unsigned> highest_{0};  // the highest ordinal that has a record in use
  Atomic<Tomb*> buckets_[kBuckets] = {};
};

template <typename Visit>
bool Readers::any(Visit visit) const {
  const auto look = [&](Announcement& cell) {
    const uintptr_t what = fence_.look(cell.what);
    return what != 0 && visit(cell, what);
  };
  const unsigned highest = fence_.look(highest_);
  for (unsigned c = 0; c < kChunks && first_of(c) <= highest; ++c) {
    auto* const chunk = reinterpret_cast<ThreadRecord*>(fence_.look(chunks_[c]));
    if (chunk == nullptr) continue;
    // No thread has the ordinal 0.
    for (unsigned r = c == 0 ? 1 : 0; r < length_of(c) && first_of(c) + r <= highest; ++r) {
      ThreadRecord& record = chunk[r];
      if (look(record.first) || look(record.deletes) || any_of(record, look)) return true;
    }
  }
  return false;
}

}  // namespace attrcache

#endif  // ATTRCACHE_READERS_READERS_H_
