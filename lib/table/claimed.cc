// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/claimed.h"

#include "platform/thread.h"
#include "platform/wait.h"
#include "table/circle.h"
#include "table/meta.h"

namespace attrcache {
namespace {

uint64_t clock_of(const Table& table) { return table.clock.load(kRelaxed); }

// A copier that somebody has chosen to leave it a deletion.
bool is_chosen(uintptr_t what) { return Announcement::says(what) == Says::kLeaving; }

// Calls visit(holder) for who holds the attachment until it says true; returns whether it did.
template <typename Visit>
bool any_holder(const Readers& readers, const Table& table, const Pair& slot, uint64_t m,
                Visit visit) {
  return readers.any([&](Announcement& cell, uintptr_t what) {
    if (!Announcement::is_about(what, &slot)) return false;
    if (!Announcement::holds(what) && !Announcement::is_promised(what)) return false;
    // (F4) Read once: the cell may be announcing the next attachment meanwhile.
    const Holder holder = {&cell, what, cell.meta.load(kAcquire), cell.who.load(kRelaxed)};
    return meta::same_attachment(holder.meta, m, clock_of(table)) && !is_dead(holder.who) &&
           visit(holder);
  });
}

// Waits until that holder has let go. False: it waits for the caller.
bool wait_for(Readers& readers, const Pair& slot, uint64_t m, const Holder& holder) {
  const auto let_go = [&] {
    return holder.cell->what.load(kAcquire) != holder.what ||  // as F2
           holder.cell->meta.load(kRelaxed) != holder.meta;
  };
  // Without memory to announce it, this can't ask whether the wait closes a circle; others that are
  // in the circle don't see it, either.
  Announcement* const waiting = readers.take();
  const auto stuck = [&] { return waiting != nullptr && waits_for_me(readers, holder.who); };
  if (waiting != nullptr) readers.announce_wait(*waiting, slot, Says::kSeeks, m, holder.who);
  const bool gone = readers.wait(slot, let_go, stuck);
  if (waiting != nullptr) readers.release(*waiting);
  return gone;
}

// Gives up what this thread's own copy_fns hold of an attachment, up its stack.
void give_up_copies(const Target& target, Pair& slot, id::Keyval keyval) {
  const ThreadState& thread = target.registry.threads().self();
  for_each_frame_of(thread.innermost, &target.table, [&](Frame& f) {
    if (f.use != Frame::Use::kCopying || f.slot != &slot || f.table_died) return;
    Announcement* const hold = f.hold;
    f.hold = nullptr;
    if (hold != nullptr) end_copy_hold(target, slot, keyval, *hold);
  });
}

// Deletes a value that was left to this thread.
void delete_left_value(const Target& target, Pair& slot, id::Keyval keyval, SlotContent left) {
  Readers& readers = target.registry.readers();
  // This thread may be within another copy_fn of the value up its stack: the last one deletes it.
  const uint64_t me = readers.threads().identity();
  Holder own;
  const auto copies = [&](const Holder& found) {
    own = found;
    return found.who == me && Announcement::says(found.what) != Says::kBorrows;
  };
  while (any_holder(readers, target.table, slot, left.meta, copies)) {
    if (begin_to_leave(readers, target.table, own, slot))
      return leave(readers, own, slot, left.value);
  }
  {
    const Readers::Claiming claiming(readers);
    readers.heavy_fence();  // so that who lets go from now on sees that this thread waits
    for (Holder other;
         find_holder(readers, target.table, slot, left.meta, Says::kCopies, &other);) {
      if (wait_for(readers, slot, left.meta, other) ||
          !begin_to_leave(readers, target.table, other, slot)) {
        continue;
      }
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

bool find_holder(const Readers& readers, const Table& table, const Pair& slot, uint64_t m,
                 Says says, Holder* holder) {
  const uint64_t me = readers.threads().identity();
  return any_holder(readers, table, slot, m, [&](const Holder& found) {
    const Says how = is_chosen(found.what) ? Says::kCopies : Announcement::says(found.what);
    // Who is promised the value counts as both, until it has it.
    const bool so = how == says || Announcement::is_promised(found.what);
    if (!so || found.who == me) return false;
    *holder = found;
    return true;
  });
}

bool begin_to_leave(Readers& readers, const Table& table, const Holder& holder, const Pair& slot) {
  Announcement& cell = *holder.cell;
  uintptr_t what = holder.what;
  if (is_chosen(what) || Announcement::is_promised(what)) return false;
  if (!cell.what.compare_exchange_strong(what, Announcement::of(&slot, Says::kLeaving), kAcqRel,
                                         kRelaxed)) {
    return false;
  }
  if (cell.meta.load(kRelaxed) == holder.meta && cell.who.load(kRelaxed) == holder.who) {
    // It may hold the claimed value once more. Behind this fence that is found, or it finds in
    // is_left() that it was chosen.
    readers.heavy_fence();
    const bool borrows = any_holder(readers, table, slot, holder.meta, [&](const Holder& other) {
      return other.who == holder.who && Announcement::says(other.what) == Says::kBorrows;
    });
    if (!borrows) {
      readers.count_left(1);
      return true;
    }
  }
  cell.what.store(holder.what, kRelease);  // hands on what the announcement released
  return false;
}

bool is_left(const Readers& readers, const Table& table, const Pair& slot, uint64_t m) {
  const uint64_t me = readers.threads().identity();
  return readers.any([&](Announcement& cell, uintptr_t what) {
    if (!Announcement::is_about(what, &slot) || cell.who.load(kRelaxed) != me) return false;
    for (Backoff backoff; is_chosen(what);) {
      backoff.relax();
      what = cell.what.load(kRelaxed);  // for the caller then looks at the slot again
    }
    return Announcement::says(what) == Says::kLeft &&
           meta::same_attachment(cell.meta.load(kRelaxed), m, clock_of(table));
  });
}

SeenOff see_off(const Target& target, Pair& slot, id::Keyval keyval, slot::Claim& claim,
                SlotContent claimed, FenceOnce& fence, Holder* holder) {
  Readers& readers = target.registry.readers();
  const uint64_t m = claimed.meta;
  const Readers::Claiming claiming(readers);
  fence(readers);
  give_up_copies(target, slot, keyval);
  for (;;) {
    if (find_holder(readers, target.table, slot, m, Says::kBorrows, holder)) {
      if (!wait_for(readers, slot, m, *holder) && claim.try_restore()) return SeenOff::kDeadlock;
    } else if (find_holder(readers, target.table, slot, m, Says::kCopies, holder)) {
      if (!wait_for(readers, slot, m, *holder) &&
          begin_to_leave(readers, target.table, *holder, slot)) {
        return SeenOff::kLeft;
      }
    } else {
      claim.seen_off();
      return SeenOff::kYes;
    }
  }
}

int see_others_off(const Target& target, Pair& slot, id::Keyval keyval, SlotContent claimed,
                   bool copied) {
  Readers& readers = target.registry.readers();
  const Readers::Claiming claiming(readers);
  const uint64_t m = claimed.meta;
  readers.heavy_fence();
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

void delete_left(const Target& from, Pair& slot, id::Keyval keyval, Announcement& cell) {
  from.registry.readers().count_left(~uint32_t{0});
  const SlotContent value = {cell.more.load(kRelaxed), cell.meta.load(kRelaxed)};
  delete_left_value(from, slot, meta::keyval(value.meta, id::index(keyval)), value);
}

bool end_own_copies(const Target& target, Frame* outer) {
  for (bool any = false;; any = true) {
    const Frame* copying = nullptr;
    for_each_frame_of(outer, &target.table, [&copying](const Frame& f) {
      if (f.use == Frame::Use::kCopying && f.slot != nullptr && f.hold != nullptr && !f.table_died)
        copying = &f;
    });
    if (copying == nullptr) return any;
    Pair* copied = nullptr;
    id::Keyval keyval = {};
    target.table.for_each([&](uint32_t index, Pair& slot) {
      if (&slot != copying->slot) return;
      copied = &slot;
      keyval = meta::keyval(copying->hold->meta.load(kRelaxed), index);
    });
    give_up_copies(target, *copied, keyval);
  }
}

unsigned count_holders(const Readers& readers, const Table& table, const Pair& slot, uint64_t m) {
  unsigned holders = 0;
  any_holder(readers, table, slot, m, [&](const Holder&) {
    ++holders;
    return false;
  });
  return holders;
}

}  // namespace attrcache
