// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/left.h"

#include "callback/executor.h"
#include "table/meta.h"

namespace attrcache {
namespace {

template <typename T>
T* pointer_in(const Atomic<uintptr_t>& word) {
  return reinterpret_cast<T*>(word.load(kRelaxed));
}
template <typename T>
uintptr_t word_of(T* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

// Calls visit(cell, thread, what it says) for each holder of an attachment, until it returns true;
// returns whether it did.
template <typename Visit>
bool any_holder(const Readers& readers, const Pair* slot, uint64_t m, uint64_t clock, Visit visit) {
  return readers.any([&](Announcement& cell, uintptr_t what) {
    // (F4) The cell may be announcing the next attachment meanwhile.
    if (!Announcement::holds(what, slot)) return false;
    if (!meta::same_attachment(cell.meta.load(kAcquire), m, clock)) return false;
    const uint64_t thread = cell.thread.load(kRelaxed);
    return !is_dead(thread) && visit(cell, thread, what);
  });
}

bool is_held(const Readers& readers, const Pair* slot, uint64_t m, uint64_t clock) {
  return any_holder(readers, slot, m, clock, [](auto&&...) { return true; });
}

// Whether a taken tomb was taken by another living thread, which may not have said so yet.
bool is_taken_by_another(const Readers& readers, const Tomb& tomb) {
  const uint64_t taker = tomb.taker.load(kRelaxed);
  return taker != readers.threads().identity() && !is_dead(taker);
}

// Gives up what this thread's own copy_fns, up its stack, hold of a table's values, where
// is_one(frame) is true. At its end each copy still looks for what was left to it (L4), because its
// failed attempts before it held the value have looked like holders.
template <typename IsOne>
void give_up_copies(const Readers& readers, const Table& table, IsOne is_one) {
  for_each_frame_of(readers.threads().self().innermost, &table, [&](Frame& f) {
    if (f.use != Frame::Use::kCopying || f.announced == nullptr || !is_one(f)) return;
    Readers::retract(*f.announced, uintptr_t(Says::kTaken));
  });
}

// A value that was renumbered since isn't given up, so its deletion is left to the copy.
void give_up_copies_of(const Readers& readers, const Table& table, const Pair& slot, uint64_t m) {
  give_up_copies(readers, table, [&](const Frame& f) {
    return f.slot == &slot && meta::same_name(f.announced->meta.load(kRelaxed), m);
  });
}

// Deletes the value of a tomb that this thread has taken, and frees the tomb.
void delete_left(Readers& readers, Tomb& tomb) {
  tomb.taker.store(readers.threads().identity(), kRelaxed);
  Registry& registry = *pointer_in<Registry>(tomb.registry);
  const id::Keyval keyval{tomb.keyval.load(kRelaxed)};
  const uint64_t value = tomb.value.load(kRelaxed);
  const int fortran_handle = tomb.fortran_handle.load(kRelaxed);
  // The tomb's reference keeps the callbacks alive. If delete_fn fails, there is no caller to
  // report that to, and the value is gone.
  static_cast<void>(
      run_delete(registry.callbacks(keyval),
                 {registry.convention(), pointer_in<void>(tomb.object), registry.number_of(keyval),
                  &value, meta::tag(tomb.meta.load(kRelaxed)), &fortran_handle}));
  readers.free_tomb(tomb);
  drop_reference(registry, keyval);
}

// Takes a turn on a tomb, if is_one(tomb) is true, and deletes its value if nobody holds it.
// Returns whether the deletion is left to others, or another thread is running it.
template <typename IsOne>
bool end_one(Readers& readers, Tomb& tomb, IsOne is_one) {
  // Acquire: what the tomb says, by L9.
  uint64_t now = tomb.state.load(kAcquire);
  const uint64_t version = Tomb::version(now);
  for (; Tomb::version(now) == version; now = tomb.state.load(kAcquire)) {
    const Tomb::Phase phase = Tomb::phase(now);
    if (phase == Tomb::kFree || !is_one(tomb)) return false;
    if (phase == Tomb::kTaken) return is_taken_by_another(readers, tomb);
    const auto* const slot = pointer_in<const Pair>(tomb.slot);
    const uint64_t m = tomb.meta.load(kRelaxed);
    const uint64_t clock = tomb.clock.load(kRelaxed);
    if (!tomb.turn(now)) continue;  // (L5)
    // Until a tomb is open, the thread that places it announces that it is within a deletion.
    if (phase == Tomb::kPlaced) return false;
    if (is_held(readers, slot, m, clock)) return true;
    if (!tomb.take(now)) continue;  // (L6)
    delete_left(readers, tomb);
    return false;
  }
  return false;  // another thread has ended it
}

}  // namespace

bool Deletion::place(SlotContent found) {
  Readers& readers = target_.registry.readers();
  if (tomb_ == nullptr && (tomb_ = readers.place_tomb(slot_)) == nullptr) return false;
  Tomb& tomb = *tomb_;
  tomb.slot.store(word_of(&slot_), kRelaxed);
  tomb.meta.store(found.meta, kRelaxed);
  tomb.value.store(found.value, kRelaxed);
  tomb.table.store(word_of(&target_.table), kRelaxed);
  return true;
}

bool Deletion::leave_read(slot::Claim* claim) {
  Registry& registry = target_.registry;
  Readers& readers = registry.readers();
  Tomb& tomb = *tomb_;
  const uint64_t m = tomb.meta.load(kRelaxed);
  const uint64_t clock = target_.table.now();
  give_up_copies_of(readers, target_.table, slot_, m);
  readers.heavy_fence();  // (L8)
  if (!is_held(readers, &slot_, m, clock)) {
    drop_tomb();  // while there are tombs, each holder that lets go looks at them
    return false;
  }
  const attrcache_callbacks& callbacks = registry.callbacks(keyval_);
  tomb.taker.store(0, kRelaxed);
  tomb.clock.store(clock, kRelaxed);
  tomb.registry.store(word_of(&registry), kRelaxed);
  tomb.keyval.store(id::bits(keyval_), kRelaxed);
  tomb.object.store(word_of(target_.object), kRelaxed);
  tomb.fortran_handle.store(fortran_handle_for(callbacks, registry.convention(), target_.object),
                            kRelaxed);
  target_.table.mark_replaced();
  registry.note_marked_table();
  // Before L9, so that no thread finds the value any more once a holder may delete it.
  if (claim != nullptr) claim->detach();  // (S12)
  tomb_ = nullptr;
  const uint64_t open = tomb.open();  // (L9)
  withdraw();
  if (!is_held(readers, &slot_, m, clock) && tomb.take(open)) {  // (L6)
    delete_left(readers, tomb);
  } else {
    ++this_thread().left;
  }
  return true;
}

bool others_delete_in(const Readers& readers, const Table& table) {
  const uint64_t me = readers.threads().identity();
  return readers.any([&](Announcement& cell, uintptr_t what) {
    const uint64_t thread = cell.thread.load(kRelaxed);
    return what == Announcement::of(&table, Says::kDeletes) && thread != me && !is_dead(thread);
  });
}

bool is_held_by_others(const Target& target, const Pair& slot, uint64_t m, FenceOnce& fence) {
  Readers& readers = target.registry.readers();
  fence(readers);
  const uint64_t me = readers.threads().identity();
  const auto is_another = [me](Announcement&, uint64_t thread, uintptr_t what) {
    return thread != me || Announcement::says(what) != Says::kCopies;
  };
  const bool held = any_holder(readers, &slot, m, target.table.now(), is_another);
  if (!held) give_up_copies_of(readers, target.table, slot, m);
  return held;
}

unsigned count_holders(const Readers& readers, const Table& table, const Pair& slot, uint64_t m) {
  unsigned holders = 0;
  any_holder(readers, &slot, m, table.now(), [&](auto&&...) {
    ++holders;
    return false;
  });
  return holders;
}

int end_left_of(Readers& readers, const Pair* slot) {
  const auto is_one = [slot](const Tomb& t) { return pointer_in<const Pair>(t.slot) == slot; };
  readers.for_each_tomb(slot, [&](Tomb& tomb) { end_one(readers, tomb, is_one); });
  return ATTRCACHE_OK;
}

bool any_left_of(Readers& readers, const Table& table) {
  give_up_copies(readers, table, [](const Frame&) { return true; });
  bool any = false;
  const auto is_one = [&table](const Tomb& t) {
    return pointer_in<const Table>(t.table) == &table;
  };
  readers.for_each_tomb([&](Tomb& tomb) { any |= end_one(readers, tomb, is_one); });
  return any;
}

bool any_tomb_of(const Readers& readers, const Table& table) {
  bool any = false;
  readers.for_each_tomb([&](const Tomb& tomb) {
    // One that is only placed may still name the table of its former use.
    any |= Tomb::phase(tomb.state.load(kAcquire)) >= Tomb::kOpen &&
           pointer_in<const Table>(tomb.table) == &table;
  });
  return any;
}

bool abandon_left_of(Readers& readers, const Table& table) {
  bool others = false;
  readers.for_each_tomb([&](Tomb& tomb) {
    const uint64_t now = tomb.state.load(kAcquire);  // as above
    const Tomb::Phase phase = Tomb::phase(now);
    if (pointer_in<const Table>(tomb.table) != &table) return;
    if (phase != Tomb::kOpen || !tomb.take(now)) {
      others |=
          phase == Tomb::kOpen || (phase == Tomb::kTaken && is_taken_by_another(readers, tomb));
      return;
    }
    give_up_borrows(readers, *pointer_in<const Pair>(tomb.slot), tomb.meta.load(kRelaxed),
                    tomb.clock.load(kRelaxed));
    Registry& registry = *pointer_in<Registry>(tomb.registry);
    const id::Keyval keyval{tomb.keyval.load(kRelaxed)};
    readers.free_tomb(tomb);
    drop_reference(registry, keyval);
  });
  return others;
}

void give_up_borrows(const Readers& readers, const Pair& slot, uint64_t m, uint64_t clock) {
  any_holder(readers, &slot, m, clock, [&slot](Announcement& cell, auto&&...) {
    Readers::give_up(cell, slot);  // if it borrows
    return false;
  });
}

void forget_table(Readers& readers, const Table& table) {
  const uint64_t me = readers.threads().identity();
  readers.for_each_tomb([&](Tomb& tomb) {
    const bool taken = Tomb::phase(tomb.state.load(kAcquire)) == Tomb::kTaken;
    if (!taken || tomb.taker.load(kRelaxed) != me) return;
    if (pointer_in<const Table>(tomb.table) == &table) tomb.table.store(0, kRelaxed);
  });
}

void end_all_left(Readers& readers) {
  readers.for_each_tomb([&](Tomb& tomb) {
    const uint64_t now = tomb.state.load(kAcquire);  // as above
    if (Tomb::phase(now) == Tomb::kOpen && tomb.take(now)) delete_left(readers, tomb);
  });
}

}  // namespace attrcache
