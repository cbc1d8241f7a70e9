// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The records of all threads in a domain, and the waits of threads for each other.
//
// A reader announces the attachment that it means to hold, and looks at the slot again. If the
// attachment is still there and unclaimed, the reader holds it until it withdraws the announcement.
// Whoever deletes claims the attachment, calls heavy_fence(), and looks through the announcements.
// The fence (platform/asymmetric_fence.h) makes sure that the reader saw the claim, or the claimer
// sees the announcement.
//
// A claimer that finds a holder waits. So that no wake-up is missed and nobody is woken in vain,
// claimers count themselves (`claimers`) before the fence. A reader that withdraws looks at that
// count afterwards: if it is not 0, it wakes those who sleep on that slot's bucket.

#ifndef ATTRCACHE_READERS_READERS_H_
#define ATTRCACHE_READERS_READERS_H_

#include <cstdint>

#include "callback/threads.h"
#include "platform/asymmetric_fence.h"
#include "platform/memory.h"
#include "platform/wait.h"
#include "readers/thread_record.h"

namespace attrcache {

class Readers {
 public:
  Readers(const Threads& threads, const Memory& memory, bool full_fences);
  ~Readers();
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  // False: there was no memory for the records, and nothing else may be called.
  bool made() const { return near_ != nullptr && light_ != nullptr; }

  // The record of the calling thread, if its ordinal is near; else one whose first cell is taken
  // for ever.
  ThreadRecord& near_record() const { return mine_of(near_); }
  // The first cells of light readers' records; where readers are full, cells that are taken for
  // ever. So who takes the usual way need not ask which of the two they are.
  Announcement* light_cells() const { return &light_->first; }
  // The calling thread's of the near records, or of one of their cells.
  template <typename T>
  static T& mine_of(T* near) {
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(near) + this_thread().near_record);
  }

  // A cell of the calling thread's record, which says kTaken and whose it is; null when out of
  // memory. Wait-free but for the allocator.
  Announcement* take() {
    ThreadRecord& near = near_record();
    const bool usual = near.active && near.free != nullptr && !threads_.hooked();
    return usual ? take_of(near, this_thread().identity) : take_slowly();
  }
  // Gives one back, whatever it says. If it said that a value is held, tell_of_withdrawal() is to
  // follow.
  void release(Announcement& cell) {
    retract(cell, 0);
    // It exists, but isn't always where the cell is: user-level threads move.
    ThreadRecord& record = *mine();
    if (&cell == &record.first) return;
    cell.more.store(reinterpret_cast<uintptr_t>(record.free), kRelaxed);
    record.free = &cell;
  }

  // Announces in a cell that was taken. If it says that a value is held, the caller must look at
  // the slot again. Wait-free.
  void announce(Announcement& cell, const Pair& slot, Says says, uint64_t meta) {
    cell.meta.store(meta, kRelease);  // (F3)
    fence_.announce(cell.what, Announcement::of(&slot, says));
  }
  // Takes back what was announced, and wakes those who may wait for that. The cell stays taken.
  void withdraw(Announcement& cell, const Pair& slot) {
    retract(cell, uintptr_t(Says::kTaken));
    tell_of_withdrawal(slot);
  }
  // Takes back what was announced of a borrow that goes on to be given back.
  void give_up(Announcement& cell, const Pair& slot) {
    retract(cell, uintptr_t(Says::kGivenUp));
    tell_of_withdrawal(slot);
  }
  // The same of another thread's borrow; by an exchange, since that may be giving it back just now.
  // Relaxed: it still has the value, so there is nothing to hand on to who looks.
  void give_up_for(Announcement& cell, const Pair& slot) {
    uintptr_t what = Announcement::of(&slot, Says::kBorrows);
    cell.what.compare_exchange_strong(what, uintptr_t(Says::kGivenUp), kRelaxed, kRelaxed);
    wake(slot);
  }
  // The two halves of that. Light readers come to the second after the first, as seen by whoever
  // has counted itself and then called heavy_fence() (Claiming). Full ones don't, or each would
  // need another full fence; so who waits for them looks again from time to time.
  static void retract(Announcement& cell, uintptr_t what) {
    AsymmetricFence::announce<AsymmetricFence::Of::kLight>(cell.what, what);
  }
  [[gnu::always_inline]] void tell_of_withdrawal(const Pair& slot) {
    if (!claimers_.equals_relaxed(0)) [[unlikely]]
      wake(slot);
  }
  // The same of a cell that says kCopies, to which another thread may answer. True: it was left the
  // deletion of the value, which is now in the cell.
  [[gnu::always_inline]] bool withdraw_copy(Announcement& cell, const Pair& slot) {
    uintptr_t now = Announcement::of(&slot, Says::kCopies);
    // Acquires and releases, in this order to what follows also where readers are full.
    const bool left =
        !cell.what.compare_exchange_strong(now, uintptr_t(Says::kTaken), kAcqRel, kAcquire) &&
        take_answer(cell, slot, now);
    tell_of_withdrawal(slot);
    return left;
  }

  // A thread that holds a claimed value already announces it once more. Told before the first of
  // the two is withdrawn, it keeps those who look through the cells from passing between the two.
  void tell_of_another_hold() { second_holds_.fetch_add(1, kRelease); }

  // How many deletions are left to copiers, who haven't begun them yet; counted before the value is
  // taken out of its slot. Relaxed: who finds the slot so finds this.
  void count_left(uint32_t more) { left_.fetch_add(more, kRelaxed); }
  bool any_left() const { return left_.load(kRelaxed) != 0; }

  // Counts a claimer while it lives, from before heavy_fence() until it has stopped waiting.
  class Claiming {
   public:
    explicit Claiming(Readers& readers) : claimers_(readers.claimers_) {
      claimers_.fetch_add(1, kRelaxed);  // heavy_fence() orders it
    }
    ~Claiming() { claimers_.fetch_sub(1, kRelaxed); }
    Claiming(const Claiming&) = delete;
    Claiming& operator=(const Claiming&) = delete;

   private:
    Atomic<uint32_t>& claimers_;
  };
  void heavy_fence() const { fence_.heavy_fence(); }

  // Looks through all cells until visit(cell, what) says true, and returns whether one did. A cell
  // that held all the time is found, and so is one of two holds that overlapped.
  template <typename Visit>
  bool any(Visit visit) const;

  // The same for all cells that are in use, without care for what changes meanwhile.
  template <typename Visit>
  bool any_used(Visit visit) const;

  // Announces a wait, in a cell that was taken. The cell stays taken when the wait has ended.
  void announce_wait(Announcement& cell, const Pair& slot, Says says, uint64_t meta,
                     uint64_t more) {
    cell.meta.store(meta, kRelease);  // (F3)
    cell.more.store(more, kRelaxed);
    // A full fence, whoever the readers are: of two threads that announce that they wait, and then
    // look, at least one sees the other.
    AsymmetricFence::announce<AsymmetricFence::Of::kFull>(cell.what, Announcement::of(&slot, says));
  }
  // As any(), for waits. What its thread had announced before a wait that is found, any() finds.
  template <typename Visit>
  bool any_wait(Visit visit) const;

  bool light() const { return fence_.light(); }

  // Waits until done() is true. stuck() is asked now and then, before sleeping above all: if it
  // says true, the wait ends. Returns done().
  template <typename Done, typename Stuck>
  bool wait(const Pair& slot, Done done, Stuck stuck);

  // Wakes those who wait for something of that slot. It takes the slot's address only, since its
  // memory may have been released.
  void wake(const Pair& slot);

  const Threads& threads() const { return threads_; }

 private:
  static constexpr unsigned kChunks = 12;  // with twice as many records each as the one before
  static constexpr unsigned kBuckets = 16;
  // Where threads sleep that wait for something of one of the slots that share it.
  struct Bucket {
    Atomic<uint32_t> changes{0};
    Atomic<uint32_t> sleepers{0};
    char apart[128 - 2 * sizeof(uint32_t)];  // keeps two buckets out of one cache line
  };
  Bucket& bucket(const Pair& slot) {
    const auto at = reinterpret_cast<uintptr_t>(&slot) / sizeof(Pair);
    return buckets_[(at ^ at / kBuckets) % kBuckets];
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
    cell->who.store(identity, kRelaxed);
    // Release, as every store there: whoever finds that a holder has let go reads this one, perhaps.
    cell->what.store(uintptr_t(Says::kTaken), kRelease);
    return cell;
  }
  [[gnu::noinline, gnu::cold]] Announcement* take_slowly();
  [[gnu::noinline, gnu::cold]] static bool take_answer(Announcement& cell, const Pair& slot,
                                                       uintptr_t now);
  ThreadRecord* make_chunk(unsigned chunk, void** allocated);
  ThreadRecord* look_up();
  // The record of the calling thread; null when out of memory.
  ThreadRecord* mine() {
    ThreadRecord& near = near_record();
    return near.active ? &near : look_up();
  }
  template <typename Visit>
  static bool any_cell(uintptr_t more, Visit visit);
  template <typename Visit>
  bool any_record(Visit visit) const;

  const Threads& threads_;
  const Memory memory_;
  const AsymmetricFence fence_;
  // What was allocated for the first chunk, which is near_, for the others, and for light_ if that
  // is none of them. A chunk is aligned.
  void* allocated_[kChunks] = {};
  void* allocated_light_ = nullptr;
  ThreadRecord* const near_;
  ThreadRecord* const light_;
  Atomic<uint32_t> claimers_{0};
  Atomic<uint32_t> second_holds_{0};  // that were told of (tell_of_another_hold())
  Atomic<uint32_t> left_{0};
  Atomic<uintptr_t> chunks_[kChunks] = {};
  Atomic<unsigned> highest_{0};  // the highest ordinal that has a record in use
  Bucket buckets_[kBuckets] = {};
};

template <typename Visit>
bool Readers::any_cell(uintptr_t more, Visit visit) {
  while (more != 0) {
    auto& cells = *reinterpret_cast<MoreCells*>(more);
    for (Announcement& cell : cells.cells) {
      if (visit(cell)) return true;
    }
    more = cells.next;
  }
  return false;
}

template <typename Visit>
bool Readers::any_record(Visit visit) const {
  const unsigned highest = fence_.look(highest_);
  for (unsigned c = 0; c < kChunks && first_of(c) <= highest; ++c) {
    auto* const chunk = reinterpret_cast<ThreadRecord*>(fence_.look(chunks_[c]));
    if (chunk == nullptr) continue;
    // No thread has the ordinal 0.
    for (unsigned r = c == 0 ? 1 : 0; r < length_of(c) && first_of(c) + r <= highest; ++r) {
      if (visit(chunk[r])) return true;
    }
  }
  return false;
}

template <typename Visit>
bool Readers::any(Visit visit) const {
  const auto look = [&](Announcement& cell) {
    const uintptr_t what = fence_.look(cell.what);
    return Announcement::is_about_any(what) && visit(cell, what);
  };
  for (;;) {
    const uint32_t before = second_holds_.load(kAcquire);
    const bool found = any_record([&](ThreadRecord& record) {
      return look(record.first) || look(record.second) || look(record.third) ||
             any_cell(fence_.look(record.more), look);
    });
    if (found) return true;
    // Relaxed: a cell that was withdrawn after its thread had told of another one was read with
    // acquire, and so this reads that, too.
    if (second_holds_.load(kRelaxed) == before) return false;
  }
}

template <typename Visit>
bool Readers::any_used(Visit visit) const {
  const auto look = [&](Announcement& cell) {
    const uintptr_t what = cell.what.load(kRelaxed);
    return what != 0 && visit(cell, what);
  };
  return any_record([&](ThreadRecord& record) {
    return look(record.first) || look(record.second) || look(record.third) ||
           any_cell(record.more.load(kAcquire), look);
  });
}

template <typename Visit>
bool Readers::any_wait(Visit visit) const {
  const auto look = [&](Announcement& cell) {
    const uintptr_t what = fence_.look(cell.what);
    return Announcement::is_about_any(what) && visit(cell, what);
  };
  return any_record([&](ThreadRecord& record) {
    return look(record.second) || look(record.third) || any_cell(fence_.look(record.more), look);
  });
}

template <typename Done, typename Stuck>
bool Readers::wait(const Pair& slot, Done done, Stuck stuck) {
  Patience patience;
  Backoff naps;
  for (unsigned round = 1; !done(); ++round) {
    if (threads_.yields()) {
      if (round % 16 == 0 && stuck()) return done();
      continue;
    }
    if (patience.pass()) {
      // Before it yields, above all: on a busy machine each yield may take the others' time slices,
      // and who closes a circle sees that from the beginning.
      if (round % 64 == 0 && stuck()) return done();
      continue;
    }
    if (!fence_.light()) {  // a reader that withdraws may not see that anybody waits
      if (stuck()) return done();
      naps.relax();
      continue;
    }
    Bucket& b = bucket(slot);
    b.sleepers.fetch_add(1, kRelaxed);
    // Acquires and releases, with the update in wake(): whichever comes second sees what the other
    // thread did before its own. So done() sees the change, or wake() sees the sleeper.
    const uint32_t seen = b.changes.fetch_add(0, kAcqRel);
    bool given_up = false;
    if (!done() && !(given_up = stuck())) sleep_while(b.changes, seen);
    b.sleepers.fetch_sub(1, kRelaxed);
    if (given_up) return done();
  }
  return true;
}

}  // namespace attrcache

#endif  // ATTRCACHE_READERS_READERS_H_
