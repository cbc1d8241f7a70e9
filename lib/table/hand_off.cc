// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/hand_off.h"

#include "callback/executor.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// Whether a cell announces that its thread holds an attachment.
bool is_holder(const Announcement& cell, const Pair* slot, uint64_t m) {
  // (F4) The cell may be announcing the next attachment meanwhile.
  return Announcement::holds(AsymmetricFence::look(cell.what), slot) &&
         meta::same_attachment(cell.meta.load(kAcquire), m);
}

// Whether a taken tomb was taken by another thread, which may not have said so yet.
bool is_taken_by_another(const Readers& readers, const Tomb& tomb) {
  return tomb.taker.load(kRelaxed) != readers.threads().identity();
}

// (L6)
bool take(const Readers& readers, Tomb& tomb, uint64_t now) {
  if (!tomb.take(now)) return false;
  tomb.taker.store(readers.threads().identity(), kRelaxed);
  return true;
}

// Gives up the copies of a table's values that is_one(frame) is true of (give_up_copies_of).
template <typename IsOne>
void give_up_copies(const ThreadState& thread, const Table& table, IsOne is_one) {
  for_each_frame_of(thread.innermost, &table, [&](Frame& f) {
    if (f.use != Frame::Use::kCopying || f.announced == nullptr || !is_one(f)) return;
    Readers::retract(*f.announced, uintptr_t(Says::kTaken));
  });
}

// Takes a turn on a tomb, if is_one(tomb) is true, and takes the tomb if nobody holds its value.
// kOthers: the deletion is handed off to them, or running.
enum class Turn { kOver, kOthers, kMine };
template <typename IsOne>
Turn take_turn(const Readers& readers, Tomb& tomb, IsOne is_one) {
  // Acquire: what the tomb says, by L8.
  uint64_t now = tomb.state.load(kAcquire);
  const uint64_t version = Tomb::version(now);
  for (; Tomb::version(now) == version; now = tomb.state.load(kAcquire)) {
    const Tomb::Phase phase = Tomb::phase(now);
    if (phase < Tomb::kOpen || !is_one(tomb)) return Turn::kOver;
    if (phase == Tomb::kTaken)
      return is_taken_by_another(readers, tomb) ? Turn::kOthers : Turn::kOver;
    const auto* const slot = static_cast<const Pair*>(tomb.slot.load(kRelaxed));
    const uint64_t m = tomb.meta.load(kRelaxed);
    if (!tomb.turn(now)) continue;  // (L5)
    if (find_holder(readers, slot, m) != nullptr) return Turn::kOthers;
    if (take(readers, tomb, now)) return Turn::kMine;  // (L6)
  }
  return Turn::kOver;  // another thread has ended it
}

bool is_of(const Tomb& tomb, const Table& table) { return tomb.table.load(kRelaxed) == &table; }

// Frees a tomb that this thread has taken, and drops its reference.
void end_tomb(Readers& readers, Tomb& tomb) {
  Registry& registry = *tomb.registry.load(kRelaxed);
  const id::Keyval keyval{tomb.keyval.load(kRelaxed)};
  readers.free_tomb(tomb);
  registry.drop(keyval);
}

}  // namespace

const Announcement* find_holder(const Readers& readers, const Pair* slot, uint64_t m) {
  const Announcement* holder = nullptr;
  readers.any([&](Announcement& cell, uintptr_t) {
    if (!is_holder(cell, slot, m)) return false;
    holder = &cell;
    return true;
  });
  return holder;
}

void give_up_copies_of(const ThreadState& thread, const Table& table, const Pair& slot,
                       uint64_t m) {
  give_up_copies(thread, table, [&](const Frame& f) {
    return f.slot == &slot && meta::same_attachment(f.announced->meta.load(kRelaxed), m);
  });
}

Tomb* take_handed_off(const Readers& readers, const Pair* slot, uint64_t m) {
  Tomb* mine = nullptr;
  const auto is_one = [slot, m](const Tomb& tomb) {
    return tomb.slot.load(kRelaxed) == slot && meta::same_attachment(tomb.meta.load(kRelaxed), m);
  };
  readers.for_each_tomb(slot, m, [&](Tomb& tomb) {
    if (mine == nullptr && take_turn(readers, tomb, is_one) == Turn::kMine) mine = &tomb;
  });
  return mine;
}

void delete_handed_off(Readers& readers, Tomb& tomb) {
  Registry& registry = *tomb.registry.load(kRelaxed);
  const id::Keyval keyval{tomb.keyval.load(kRelaxed)};
  const uint64_t value = tomb.value.load(kRelaxed);
  const int fortran_handle = tomb.fortran_handle.load(kRelaxed);
  // The tomb's reference keeps the callbacks alive. If delete_fn fails, there is no caller to
  // report that to, and the value is gone.
  static_cast<void>(run_delete(registry.callbacks(keyval), registry.convention(),
                               tomb.object.load(kRelaxed), registry.number_of(keyval), value,
                               meta::tag(tomb.meta.load(kRelaxed)), &fortran_handle));
  end_tomb(readers, tomb);
}

void Deletion::hand_off_to(const Announcement& holder, const Target& target, Pair& slot,
                           id::Keyval keyval, SlotContent found, slot::Claim* claim,
                           Announcement& cell) {
  Registry& registry = target.registry;
  Readers& readers = registry.readers();
  const uint64_t m = found.meta;
  const attrcache_callbacks& callbacks = registry.callbacks(keyval);
  Tomb& tomb = readers.place_tomb(slot, m);  // (L8)
  tomb.slot.store(&slot, kRelaxed);
  tomb.meta.store(m, kRelaxed);
  tomb.value.store(found.value, kRelaxed);
  tomb.table.store(&target.table, kRelaxed);
  tomb.taker.store(0, kRelaxed);
  tomb.registry.store(&registry, kRelaxed);
  tomb.keyval.store(id::bits(keyval), kRelaxed);
  tomb.object.store(target.object, kRelaxed);
  tomb.fortran_handle.store(fortran_handle_for(callbacks, registry.convention(), target.object),
                            kRelaxed);
  target.table.mark_replaced();
  // First, so that no thread finds the value any more once a holder may delete it.
  if (claim != nullptr) claim->detach();  // (S12)
  const uint64_t open = tomb.open();
  readers.release(cell);
  // (L9) The holder that was found is asked first, because it is nearly always there still.
  AsymmetricFence::heavy_fence(readers_of(m));
  const bool mine = tomb.turn(open) && !is_holder(holder, &slot, m) &&
                    find_holder(readers, &slot, m) == nullptr && take(readers, tomb, open);
  if (mine) {
    delete_handed_off(readers, tomb);
  } else {
    ++this_thread().handed_off;
  }
}

bool others_delete_in(const Readers& readers, const Table& table) {
  const uint64_t me = readers.threads().identity();
  return readers.any([&](Announcement& cell, uintptr_t what) {
    return what == Announcement::of(&table, Says::kDeletes) && cell.thread.load(kRelaxed) != me;
  });
}

bool is_at_rest(const Readers& readers, const Table& table) {
  // In this order, because a thread counts what it leaves before it ends its announcement.
  return !others_delete_in(readers, table) && !readers.any_handed_off();
}

// Notes all slots of which values are held.
void HeldByOthers::look(AsymmetricFence::Of of) {
  const Readers& readers = target_.registry.readers();
  AsymmetricFence::heavy_fence(of);
  for (uint64_t& word : slots_) word = 0;
  readers.any([&](Announcement&, uintptr_t what) {
    if (Announcement::says(what) > Says::kCopies) return false;
    const unsigned b = bit(Announcement::slot(what));
    slots_[b / 64] |= uint64_t{1} << b % 64;
    return false;
  });
  looked_ = true;
  looked_for_light_ |= of == AsymmetricFence::Of::kLight;
}

bool HeldByOthers::operator()(const Pair& slot, uint64_t m) {
  Readers& readers = target_.registry.readers();
  give_up_copies_of(readers.threads().self(), target_.table, slot, m);
  if (!looked_ || (meta::light(m) && !looked_for_light_)) look(readers_of(m));
  const unsigned b = bit(&slot);
  if ((slots_[b / 64] & uint64_t{1} << b % 64) != 0 || readers.threads().hooked())
    return find_holder(readers, &slot, m) != nullptr;
  // A delete_fn of this free may have borrowed since.
  ThreadRecord* const mine = readers.mine();
  return mine != nullptr &&
         mine->any_of([&](const Announcement& cell) { return is_holder(cell, &slot, m); });
}

unsigned count_holders(const Readers& readers, const Pair& slot, uint64_t m) {
  unsigned holders = 0;
  readers.any([&](Announcement& cell, uintptr_t) {
    holders += is_holder(cell, &slot, m);
    return false;
  });
  return holders;
}

bool finish_own_handed_off(Readers& readers, const Table& table) {
  give_up_copies(readers.threads().self(), table, [](const Frame&) { return true; });
  if (!readers.any_handed_off()) [[likely]]
    return false;
  bool any = false;
  readers.for_each_tomb([&](Tomb& tomb) {
    const Turn turn = take_turn(readers, tomb, [&](const Tomb& t) { return is_of(t, table); });
    any |= turn == Turn::kOthers;
    if (turn == Turn::kMine) delete_handed_off(readers, tomb);
  });
  return any;
}

bool any_tomb_of(const Readers& readers, const Table& table) {
  bool any = false;
  readers.for_each_tomb([&](const Tomb& tomb) {
    // One that is only placed may still name the table of its former use.
    any |= Tomb::phase(tomb.state.load(kAcquire)) >= Tomb::kOpen && is_of(tomb, table);
  });
  return any;
}

void abandon_handed_off(Readers& readers, const Table& table) {
  readers.for_each_tomb([&](Tomb& tomb) {
    const uint64_t now = tomb.state.load(kAcquire);  // as above
    if (is_of(tomb, table) && Tomb::phase(now) == Tomb::kOpen && take(readers, tomb, now))
      end_tomb(readers, tomb);
  });
}

void forget_table(const Readers& readers, const Table& table) {
  if (!readers.any_handed_off()) return;
  const uint64_t me = readers.threads().identity();
  readers.for_each_tomb([&](Tomb& tomb) {
    const bool taken = Tomb::phase(tomb.state.load(kAcquire)) == Tomb::kTaken;
    if (!taken || tomb.taker.load(kRelaxed) != me) return;
    if (is_of(tomb, table)) tomb.table.store(nullptr, kRelaxed);
  });
}

void end_all_handed_off(Readers& readers) {
  readers.for_each_tomb([&](Tomb& tomb) {
    const uint64_t now = tomb.state.load(kAcquire);  // as above
    if (Tomb::phase(now) == Tomb::kOpen && take(readers, tomb, now))
      delete_handed_off(readers, tomb);
  });
}

}  // namespace attrcache
