// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/claimed.h"

#include "platform/thread.h"
#include "platform/wait.h"
#include "table/circle.h"
#include "table/meta.h"

namespace attrcache {
namespace {

uint64_t clock_of(const Table& table) { return table.clock.load(kRelaxed); }

// Calls visit(cell, what) for who holds the attachment until it says true; returns whether it did.
template <typename Visit>
bool any_holder(const Readers& readers, const Table& table, const Pair& slot, uint64_t m,
                Visit visit) {
  return readers.any([&](Announcement& cell, uintptr_t what) {
    return Announcement::is_about(what, &slot) && Announcement::holds(what) &&
           meta::same_attachment(cell.meta.load(kRelaxed), m, clock_of(table)) &&
           !is_dead(cell.who.load(kRelaxed)) && visit(cell, what);
  });
}

// Finds one that holds an attachment in that way, other than the calling thread.
bool find_holder(const Readers& readers, const Table& table, const Pair& slot, uint64_t m,
                 Says says, Holder* holder) {
  const uint64_t me = readers.threads().identity();
  return any_holder(readers, table, slot, m, [&](Announcement& cell, uintptr_t what) {
    const uint64_t who = cell.who.load(kRelaxed);
    if (Announcement::says(what) != says || who == me) return false;
    *holder = {&cell, what, cell.meta.load(kRelaxed), who};
    return true;
  });
}

// Waits until that holder has let go. False: it waits for the caller.
bool wait_for(Readers& readers, const Pair& slot, uint64_t m, const Holder& holder) {
  const auto let_go = [&] {
    return holder.cell->what.load(kAcquire) != holder.what ||  // as F2 and F4
           holder.cell->meta.load(kRelaxed) != holder.meta;
  };
  // Without memory to announce it, this can't ask whether the wait closes a circle; others that are in
  // the circle don't see it, either.
  Announcement* const waiting = readers.take();
  const auto stuck = [&] { return waiting != nullptr && waits_for_me(readers, holder.who); };
  if (waiting != nullptr) readers.announce_wait(*waiting, slot, Says::kSeeks, m, holder.who);
  const bool gone = readers.wait(slot, let_go, stuck);
  if (waiting != nullptr) readers.release(*waiting);
  return gone;
}

// Hands the claimed value to those who have waited since before it was attached.
void grant(Readers& readers, const Table& table, const Pair& slot, SlotContent claimed) {
  const uint64_t me = readers.threads().identity();
  bool any = false;
  readers.any([&](Announcement& cell, uintptr_t what) {
    if (!Announcement::is_about(what, &slot)) return false;
    // Somebody else who waits here is just doing the same: in three steps it will be a holder.
    for (Backoff backoff; Announcement::says(what) == Says::kGranting;) {
      readers.threads().wait(backoff);
      what = cell.what.load(kAcquire);  // pairs with the store below
    }
    if (!Announcement::is_about(what, &slot) || !Announcement::awaits(what)) return false;
    const uint64_t awaited = cell.meta.load(kRelaxed);
    constexpr uint64_t kKeyval = uint64_t{meta::kSameAttribute & ~meta::kVisibleHalf} << 32;
    const uint64_t clock = clock_of(table);
    if (((awaited ^ claimed.meta) & kKeyval) != 0 || cell.who.load(kRelaxed) == me) return false;
    // It waits for this claim itself, or for one of a younger value.
    const uint64_t since = (claimed.meta & meta::kRestored) - (awaited & meta::kRestored);
    constexpr uint64_t kHalf = meta::kRestored / 2 & meta::kRestored;
    const bool earlier = meta::sequence(awaited) == meta::sequence(claimed.meta)
                             ? (since & meta::kRestored) - 1 < kHalf
                             : meta::age(awaited, clock) > meta::age(claimed.meta, clock);
    if (!earlier) return false;
    const Says then =
        Announcement::says(what) == Says::kAwaitsToBorrow ? Says::kBorrows : Says::kCopies;
    // Acquire and release: pairs with the exchange of announce_wait(), and with that of who gives the
    // wait up.
    if (!cell.what.compare_exchange_strong(what, Announcement::of(&slot, Says::kGranting), kAcqRel,
                                           kRelaxed)) {
      return false;
    }
    cell.more.store(claimed.value, kRelaxed);
    cell.meta.store(claimed.meta, kRelaxed);
    cell.what.store(Announcement::of(&slot, then), kRelease);  // pairs with the loads of the waiter
    any = true;
    return false;
  });
  if (any) readers.wake(slot);
}

// Gives up what this thread's own copy_fns hold of an attachment, up its stack.
void give_up_copies(const Target& target, Pair& slot, uint32_t keyval) {
  const ThreadState& thread = target.registry.threads().self();
  for (Frame* f = thread.innermost; f != nullptr; f = f->outer) {
    if (f->use != Frame::Use::kCopying || f->slot != &slot || f->table_died) continue;
    Announcement* const hold = f->hold;
    f->hold = nullptr;
    if (hold != nullptr) end_copy_hold(target, slot, keyval, *hold);
  }
}

// Chooses a copier to leave a deletion to, who waits until leave() follows. False: its copying has
// ended, or it was chosen by somebody else.
bool begin_to_leave(const Holder& holder, const Pair& slot) {
  Announcement& cell = *holder.cell;
  uintptr_t what = holder.what;
  if (!cell.what.compare_exchange_strong(what, Announcement::of(&slot, Says::kLeaving), kAcqRel,
                                         kRelaxed)) {
    return false;
  }
  if (cell.meta.load(kRelaxed) == holder.meta && cell.who.load(kRelaxed) == holder.who) return true;
  cell.what.store(holder.what, kRelease);  // it is another announcement by now
  return false;
}

// Deletes a value that was left to this thread.
void delete_left(const Target& target, Pair& slot, uint32_t keyval, SlotContent left) {
  Readers& readers = target.registry.readers();
  {
    const Readers::Claiming claiming(readers);
    for (Holder other;
         find_holder(readers, target.table, slot, left.meta, Says::kCopies, &other);) {
      if (wait_for(readers, slot, left.meta, other) || !begin_to_leave(other, slot)) continue;
      return leave(readers, other, slot, left.value);
    }
    // Who copied it may have borrowed it meanwhile.
    for (Holder other; find_holder(readers, target.table, slot, left.meta, Says::kBorrows, &other);)
      wait_for(readers, slot, left.meta, other);
  }
  TableScope scope(target.registry.threads().self(), &target.table, Frame::Use::kDeleting);
  run_claimed(target, scope, slot, left, keyval);
  drop_reference(target.registry, keyval);
}

}  // namespace

SeenOff see_off(const Target& target, Pair& slot, uint32_t keyval, slot::Claim& claim,
                SlotContent claimed, FenceOnce& fence, Holder* holder) {
  Readers& readers = target.registry.readers();
  const uint64_t m = claimed.meta;
  const Readers::Claiming claiming(readers);
  fence(readers);
  grant(readers, target.table, slot, claimed);
  give_up_copies(target, slot, keyval);
  for (;;) {
    if (find_holder(readers, target.table, slot, m, Says::kBorrows, holder)) {
      if (!wait_for(readers, slot, m, *holder) && claim.try_restore()) return SeenOff::kDeadlock;
    } else if (find_holder(readers, target.table, slot, m, Says::kCopies, holder)) {
      if (!wait_for(readers, slot, m, *holder) && begin_to_leave(*holder, slot)) {
        return SeenOff::kLeft;
      }
    } else {
      claim.seen_off();
      return SeenOff::kYes;
    }
  }
}

int see_others_off(const Target& target, Pair& slot, uint32_t keyval, SlotContent claimed,
                   bool copied) {
  Readers& readers = target.registry.readers();
  const Readers::Claiming claiming(readers);
  const uint64_t m = claimed.meta;
  readers.heavy_fence();
  grant(readers, target.table, slot, claimed);  // or who is about to be handed it would be passed
  give_up_copies(target, slot, keyval);
  Holder holder;
  while (find_holder(readers, target.table, slot, m, Says::kBorrows, &holder)) {
    if (!wait_for(readers, slot, m, holder)) return ATTRCACHE_ERR_DEADLOCK;
  }
  while (copied && find_holder(readers, target.table, slot, m, Says::kCopies, &holder)) {
    copied = wait_for(readers, slot, m, holder);
  }
  return ATTRCACHE_OK;
}

void leave(Readers& readers, const Holder& holder, const Pair& slot, uint64_t value) {
  holder.cell->more.store(value, kRelaxed);
  holder.cell->what.store(Announcement::of(&slot, Says::kLeft),
                          kRelease);  // pairs with withdraw_copy()
  readers.wake(slot);
}

void end_copy_hold(const Target& from, Pair& slot, uint32_t keyval, Announcement& cell) {
  Readers& readers = from.registry.readers();
  const bool left = readers.withdraw_copy(cell, slot);
  const SlotContent value = {cell.more.load(kRelaxed), cell.meta.load(kRelaxed)};
  readers.release(cell);
  if (left) [[unlikely]]
    delete_left(from, slot, meta::keyval(value.meta, id::index(keyval)), value);
}

unsigned count_holders(const Readers& readers, const Table& table, const Pair& slot, uint64_t m) {
  unsigned holders = 0;
  any_holder(readers, table, slot, m, [&](Announcement&, uintptr_t) {
    ++holders;
    return false;
  });
  return holders;
}

}  // namespace attrcache
