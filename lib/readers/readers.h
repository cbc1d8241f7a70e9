// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The records of all threads in a domain, in which they announce what they hold, and the tombs that
// say what was handed off to them (tomb.h has the protocol).

#ifndef ATTRCACHE_READERS_READERS_H_
#define ATTRCACHE_READERS_READERS_H_

#include <cstdint>

#include "platform/asymmetric_fence.h"
#include "platform/memory.h"
#include "platform/thread.h"
#include "readers/active_records.h"
#include "readers/thread_record.h"
#include "readers/tomb.h"

namespace attrcache {

// Tombs of the attachments that have the same hash. All that are in use are linked. A thread that
// frees one unlinks free ones, unless at most one more is linked than twice as many as are in use.
// A walk that is at a tomb while that is unlinked, or even linked again, goes on from there by
// `next`, to all behind it that stay linked, as along a record's cells (LinkedCell). So a tomb
// stays in its bucket. While a thread is stopped as it unlinks, walks in that bucket may be longer.
struct TombBucket {
  static constexpr uint32_t kUnlinking = uint32_t{1} << 31;
  // Relaxed: a thread that asks has acquired what matters, by free_tomb().
  bool crowded() const {
    return (linked.load(kRelaxed) & ~kUnlinking) > 2 * in_use.load(kRelaxed) + 1;
  }
  [[gnu::noinline, gnu::cold]] void unlink_free();  // if it is crowded

  Atomic<Tomb*> made{nullptr};   // the first of all
  Atomic<Tomb*> first{nullptr};  // of those that are linked
  Atomic<uint32_t> in_use{0};
  Atomic<uint32_t> linked{0};  // how many; and kUnlinking while a thread does that
};

class Readers {
 public:
  Readers(const Threads& threads, const Memory& memory, bool full_fences);
  ~Readers();
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  // False: there was no memory for the records, and nothing else may be called.
  bool made() const { return near_ != nullptr; }

  // ---- A thread's own cells ----

  // The record of the calling thread, if its ordinal is near; else one that nobody owns. Before the
  // thread has looked up its record once, it may still be that of the ordinal's last thread: ask
  // for the owner, or whether `first` says this thread's identity.
  ThreadRecord& near_record() const { return mine_of(near_); }
  // The calling thread's own, among the near records or among a certain cell of each.
  template <typename T>
  static T& mine_of(T* near) {
    T* const mine = reinterpret_cast<T*>(reinterpret_cast<char*>(near) + this_thread().near_record);
    if (mine == nullptr) __builtin_unreachable();  // so a give_back knows what its borrow found
    return *mine;
  }
  Announcement* first_cells() const { return &near_->first; }
  // The record of the calling thread; null when out of memory. Wait-free but for the allocator.
  ThreadRecord* mine() {
    ThreadRecord& near = near_record();
    return near.owner == this_thread().identity ? &near : look_up();
  }

  // A cell of the calling thread's record, which says `what` and names the thread; null when out of
  // memory. Wait-free but for the allocator.
  Announcement* take(uint64_t what = uint64_t(Says::kTaken)) {
    Announcement& first = near_record().first;
    if (first.what.load(kRelaxed) == this_thread().identity) [[likely]]
      return taken(first, what);
    return take_another(what);
  }
  // Gives back what take() returned, which must not announce that a value is held.
  void release(Announcement& cell) {
    if (!ThreadRecord::is_first(cell)) [[unlikely]]
      return release_another(cell);
    cell.what.store(cell.thread.load(kRelaxed), kRelease);  // as in retract()
  }

  // (L1) Announces, in a cell that was taken, that the caller holds an attachment: which it does if
  // its next look at the slot finds the attachment still there (L2). Wait-free.
  static void announce(Announcement& cell, const Pair& slot, Says says, uint64_t meta) {
    cell.meta.store(meta, kRelease);  // (F3)
    AsymmetricFence::announce(cell.what, Announcement::of(&slot, says));
  }
  // (L3) Takes back what was announced; the cell then says `what`. If it said that a value is held,
  // or might be, the caller must then take L4.
  static void retract(Announcement& cell, uint64_t what) {
    AsymmetricFence::announce(cell.what, what);
  }

  // ---- All threads' cells ----

  AsymmetricFence& fence() { return fence_; }

  // Looks through the cells of all records in use until visit(cell, what) returns true, and returns
  // whether one call did. A cell that says the same throughout is visited, perhaps more than once.
  template <typename Visit>
  bool any(Visit visit) const;

  // ---- Tombs ----

  // Ensures that the calling thread's next place_tomb() needs no memory. False: there is none.
  bool reserve_tomb() {
    ThreadRecord* const record = mine();
    return record != nullptr && (record->tomb != nullptr || (record->tomb = memory_.make<Tomb>()));
  }
  // (L8) A tomb for an attachment, for the caller to fill in and open; from here to free_tomb() it
  // is counted. A thread that sees it open, or its opener's call ended, sees that. Lock-free.
  Tomb& place_tomb(const Pair& slot, uint64_t meta, const void* table);
  // Ends the use of a tomb that is the caller's. Release: a thread that sees that no tomb is left
  // frees the object, which their delete_fns may have used.
  void free_tomb(Tomb& tomb) {
    TombBucket& of = *tomb.bucket;
    Atomic<uint32_t>& of_table = *tomb.of_table;
    tomb.free();
    of.in_use.fetch_sub(1, kAcqRel);  // acquire: what is linked, what others have freed
    of_table.fetch_sub(1, kRelease);
    if (of.crowded()) [[unlikely]]
      of.unlink_free();
  }
  // Whether any tomb is in use of this table, or of others that share its counter. Acquire: pairs
  // with free_tomb().
  bool any_handed_off(const void* table) const {
    return of_tables_[counter_of(table)].load(kAcquire) != 0;
  }
  // Visits the tombs, with their states, that share a bucket with this attachment, or all: each
  // that is open or taken throughout, and perhaps others, or one more than once.
  template <typename Visit>
  void for_each_tomb(const Pair* slot, uint64_t meta, Visit visit) const {
    for_each_tomb_in(buckets_[bucket_of(slot, meta)], visit);
  }
  template <typename Visit>
  void for_each_tomb(Visit visit) const {
    for (const TombBucket& bucket : buckets_) for_each_tomb_in(bucket, visit);
  }
  // The same for those of a table, or all for null, that are open or taken. (One that is only
  // placed may still name its former table. Acquire: one that names another has ended that use.)
  template <typename Visit>
  void for_each_tomb_of(const void* table, Visit visit) const {
    if (table != nullptr && !any_handed_off(table)) [[likely]]
      return;
    for_each_tomb([&](Tomb& tomb, uint64_t now) {
      const bool here = table == nullptr || tomb.table.load(kAcquire) == table;
      if (Tomb::phase(now) >= Tomb::kOpen && here) visit(tomb, now);
    });
  }

  const Threads& threads() const { return threads_; }

 private:
#ifdef ATTRCACHE_MODEL
  static constexpr unsigned kBuckets = 1;
#else
  static constexpr unsigned kBuckets = 128;
#endif

  // The upper half of a meta is its number's, and never changes.
  static size_t bucket_of(const Pair* slot, uint64_t meta) {
    const uint64_t key = reinterpret_cast<uintptr_t>(slot) / sizeof(Pair) + (meta >> 32);
    return (key * 0x9e3779b97f4a7c15) >> 32 & (kBuckets - 1);  // Fibonacci hashing
  }
  // How many tombs tables have that share a counter. An odd number of counters, since the addresses
  // of tables are multiples of powers of two.
  static constexpr unsigned kTables = (kBuckets - 1) | 1;
  static unsigned counter_of(const void* table) {
    return reinterpret_cast<uintptr_t>(table) / alignof(Pair) % kTables;
  }

  template <typename Visit>
  static void for_each_tomb_in(const TombBucket& bucket, Visit visit) {
    if (bucket.in_use.load(kAcquire) == 0) return;  // pairs with free_tomb()
    // Acquire: pairs with push() and unlink_free(); of the state, with open() and free().
    for (Tomb* tomb = bucket.first.load(kAcquire); tomb != nullptr;
         tomb = tomb->next.load(kAcquire))
      visit(*tomb, tomb->state.load(kAcquire));
  }

  // The first record of a group that was entered. Relaxed: A3, or look_up(), has acquired it.
  ThreadRecord* group_at(unsigned group) const { return groups_[group].load(kRelaxed); }

  ThreadRecord* make_group();
  static Announcement* taken(Announcement& cell, uint64_t what) {
    cell.borrowed.store(0, kRelaxed);  // it is no attrcache_borrowed's any more
    // Release, like every store to `what`: a thread that finds that a holder has let go may have
    // read that here.
    cell.what.store(what, kRelease);
    return &cell;
  }
  // Not inlined: a callback may move a user-level thread to another OS thread, so thread-local
  // addresses must be computed anew. (Such threads have no `first`.)
  [[gnu::noinline]] Announcement* take_another(uint64_t what);
  [[gnu::noinline]] void release_another(Announcement& cell);
  [[gnu::noinline]] ThreadRecord* look_up();
  [[gnu::noinline]] bool find_spare(ThreadRecord& record);

  const Threads& threads_;
  const Memory memory_;
  AsymmetricFence fence_;
  // The records of kNearOrdinals ordinals each (ActiveRecords); the first group is near_.
  ThreadRecord* const near_;
  Atomic<ThreadRecord*> groups_[ActiveRecords::kGroups] = {};
  mutable ActiveRecords active_;
  TombBucket buckets_[kBuckets] = {};
  Atomic<uint32_t> of_tables_[kTables] = {};
};

template <typename Visit>
bool Readers::any(Visit visit) const {
  const auto records_of = [this](unsigned group) { return group_at(group); };
  const auto look = [&visit](ThreadRecord& record, bool* quiet) {
    return record.any_of([&](Announcement& cell, uint64_t what) {
      *quiet = false;
      return visit(cell, what);
    });
  };
  const auto is_quiet = [](ThreadRecord& record) {
    return !record.any_of([](Announcement&, uint64_t) { return true; });
  };
  // With user-level threads a record stays, once used: a domain that goes to another process and
  // back (lib/include/README.md) finds none of this one's threads there.
  const auto taken = [this](unsigned group, unsigned place) {
    return threads_.hooked() || is_taken(group * kNearOrdinals + place);
  };
  return active_.any(records_of, look, is_quiet, taken);
}

}  // namespace attrcache

#endif  // ATTRCACHE_READERS_READERS_H_
