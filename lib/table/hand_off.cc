// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/hand_off.h"

#include "callback/executor.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// Whether a cell announces that its thread holds an attachment. (F4) By two loads, which may find
// two holds if the cell announces the next one meanwhile: of another value of this slot, and of
// another table's value with the same number.
bool may_hold(const Announcement& cell, const Pair* slot, uint64_t m) {
  return Announcement::holds(AsymmetricFence::look(cell.what), slot) &&
         meta::same_attachment(cell.meta.load(kAcquire), m);
}

[[gnu::noinline]] bool holds_now(Announcement& cell, const Pair* slot, uint64_t m, uint64_t add) {
  const SlotContent now = {AsymmetricFence::look(cell.what), cell.meta.load(kAcquire)};
  return Announcement::holds(now.value, slot) && meta::same_attachment(now.meta, m) &&
         Pair::exchange_second(cell, now, now.meta | add);
}
// The same as of one instant, for the value's deleter and its holders; adds these bits to the
// cell's meta. If the exchange fails, the hold has ended.
[[gnu::always_inline]] inline bool is_holder(Announcement& cell, const Pair* slot, uint64_t m,
                                             uint64_t add = 0) {
  return may_hold(cell, slot, m) && holds_now(cell, slot, m, add);
}

bool is_held(const Readers& readers, const Pair* slot, uint64_t m) {
  return readers.any([&](Announcement& cell, uint64_t) { return is_holder(cell, slot, m); });
}

// (L6)
bool take(const Readers& readers, Tomb& tomb, uint64_t now) {
  if (!tomb.take(now)) return false;
  tomb.taker.store(readers.threads().identity(), kRelaxed);
  return true;
}

// Visits the copies of a table's values whose copy_fns run up a thread's stack, and that aren't
// given up with the table.
template <typename Visit>
void for_each_copy(const ThreadState& thread, const Table& table, Visit visit) {
  any_frame_of(thread.innermost, &table, [&](const Frame& f) {
    if (f.use == Frame::Use::kCopying && f.slot != nullptr && f.announced != nullptr)
      visit(*static_cast<const Pair*>(f.slot), *f.announced);
    return false;
  });
}

// Takes a turn on a tomb that was found in the state `now`, if it is of that attachment; and takes
// the tomb if nobody holds the value. Acquire: pairs with L8, as where `now` was read.
bool take_turn(const Readers& readers, Tomb& tomb, uint64_t now, const Pair* slot,
               const Announcement& cell) {
  const uint64_t m = cell.meta.load(kRelaxed);
  const uint64_t version = Tomb::version(now);
  for (; Tomb::version(now) == version; now = tomb.state.load(kAcquire)) {
    if (Tomb::phase(now) != Tomb::kOpen || tomb.slot.load(kRelaxed) != slot ||
        !meta::same_attachment(tomb.meta.load(kRelaxed), m))
      return false;
    if (tomb.sole.load(kRelaxed) != &cell) {
      if (!tomb.turn(now)) continue;  // (L5)
      if (is_held(readers, slot, m)) return false;
    }
    if (take(readers, tomb, now)) return true;  // (L6)
  }
  return false;  // another thread has ended it
}

// Frees a tomb that this thread has taken, and drops its reference.
void end_tomb(Readers& readers, Tomb& tomb) {
  Registry& registry = *tomb.registry.load(kRelaxed);
  const id::Keyval keyval{tomb.keyval.load(kRelaxed)};
  readers.free_tomb(tomb);
  registry.drop(keyval);
}

// Takes the deletions in a table that are handed off, or all for null, and does `end` to each; but
// to no more than there are at first, since callbacks may hand off others. False: there are none.
template <typename End>
bool end_open(const Readers& readers, const Table* table, End end) {
  int left = 0;
  readers.for_each_tomb_of(table,
                           [&](Tomb&, uint64_t now) { left += Tomb::phase(now) == Tomb::kOpen; });
  const bool any = left != 0;
  readers.for_each_tomb_of(table, [&](Tomb& tomb, uint64_t now) {
    if (left > 0 && Tomb::phase(now) == Tomb::kOpen && take(readers, tomb, now)) --left, end(tomb);
  });
  return any;
}

}  // namespace

Announcement* tell_holders(const Readers& readers, const Pair* slot, uint64_t m, bool* sole) {
  Announcement* holder = nullptr;
  readers.any([&](Announcement& cell, uint64_t) {
    if (!is_holder(cell, slot, m, meta::kDeleting)) return false;
    *sole = holder == nullptr;
    holder = &cell;
    return false;
  });
  return holder;
}

void give_up_copies_of(const ThreadState& thread, const Table& table, const Pair& slot,
                       uint64_t m) {
  for_each_copy(thread, table, [&](const Pair& of, Announcement& cell) {
    if (&of == &slot && meta::same_attachment(cell.meta.load(kRelaxed), m))
      Readers::retract(cell, uint64_t(Says::kTaken));
  });
}

Tomb* take_handed_off(const Readers& readers, const Pair* slot, const Announcement& cell) {
  Tomb* mine = nullptr;
  readers.for_each_tomb(slot, cell.meta.load(kRelaxed), [&](Tomb& tomb, uint64_t now) {
    if (mine == nullptr && take_turn(readers, tomb, now, slot, cell)) mine = &tomb;
  });
  return mine;
}

void delete_handed_off(Readers& readers, Tomb& tomb) {
  Registry& registry = *tomb.registry.load(kRelaxed);
  const id::Keyval keyval{tomb.keyval.load(kRelaxed)};
  const uint64_t value = tomb.value.load(kRelaxed);
  // The tomb's reference keeps the callbacks alive. If delete_fn fails, there is no caller to
  // report that to, and the value is gone.
  static_cast<void>(run_delete(registry.callbacks(keyval), registry.convention(),
                               tomb.object.load(kRelaxed), registry.number_of(keyval), value,
                               meta::tag(tomb.meta.load(kRelaxed))));
  end_tomb(readers, tomb);
}

void Deletion::hand_off_to(Announcement& holder, bool sole, const Target& target, Pair& slot,
                           id::Keyval keyval, SlotContent found, slot::Claim* claim,
                           Announcement& cell) {
  Registry& registry = target.registry;
  Readers& readers = registry.readers();
  const uint64_t m = found.meta;
  Tomb& tomb = readers.place_tomb(slot, m, &target.table);  // (L8)
  tomb.slot.store(&slot, kRelaxed);
  tomb.meta.store(m, kRelaxed);
  tomb.value.store(found.value, kRelaxed);
  tomb.table.store(&target.table, kRelease);  // pairs with for_each_tomb_of()
  tomb.taker.store(0, kRelaxed);
  tomb.sole.store(sole ? &holder : nullptr, kRelaxed);
  tomb.registry.store(&registry, kRelaxed);
  tomb.keyval.store(id::bits(keyval), kRelaxed);
  tomb.object.store(target.object, kRelaxed);
  target.table.mark();
  // First, so that no thread finds the value any more once a holder may delete it.
  if (claim != nullptr) claim->detach(id::offset(keyval));  // (S12)
  const uint64_t open = tomb.open();
  readers.release(cell);
  // (L9) The holder that was found is asked first, because it is nearly always there still.
  AsymmetricFence::heavy_fence(readers_of(m));
  const bool mine = tomb.turn(open) && !is_holder(holder, &slot, m) &&
                    !is_held(readers, &slot, m) && take(readers, tomb, open);
  if (mine) {
    delete_handed_off(readers, tomb);
  } else {
    ++this_thread().handed_off;
  }
}

bool others_delete_in(const Readers& readers, const Table& table) {
  const uint64_t me = readers.threads().identity();
  return readers.any([&](Announcement& cell, uint64_t what) {
    return what == Announcement::of(&table, Says::kDeletes) && cell.thread.load(kRelaxed) != me;
  });
}

// Notes all slots of which values are held.
void HeldByOthers::look(AsymmetricFence::Of of) {
  const Readers& readers = target_.registry.readers();
  AsymmetricFence::heavy_fence(of);
  for (uint64_t& word : slots_) word = 0;
  readers.any([&](Announcement&, uint64_t what) {
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
    return is_held(readers, &slot, m);
  // A delete_fn of this free may have borrowed since.
  ThreadRecord* const mine = readers.mine();
  return mine != nullptr &&
         mine->any_of([&](Announcement& cell, uint64_t) { return is_holder(cell, &slot, m); });
}

unsigned count_holders(const Readers& readers, const Pair& slot, uint64_t m) {
  unsigned holders = 0;
  readers.any([&](Announcement& cell, uint64_t) {
    holders += may_hold(cell, &slot, m);
    return false;
  });
  return holders;
}

bool finish_own_handed_off(Readers& readers, const Table& table) {
  for_each_copy(readers.threads().self(), table,
                [&](const Pair& slot, Announcement& cell) { let_go(readers, slot, cell, true); });
  return any_tomb_of(readers, table, readers.threads().identity());
}

bool any_tomb_of(const Readers& readers, const Table& table, uint64_t but) {
  bool any = false;
  readers.for_each_tomb_of(
      &table, [&](const Tomb& tomb, uint64_t) { any |= tomb.taker.load(kRelaxed) != but; });
  return any;
}

bool abandon_handed_off(Readers& readers, const Table& table) {
  return end_open(readers, &table, [&](Tomb& tomb) { end_tomb(readers, tomb); });
}

void forget_table(const Readers& readers, const Table& table) {
  const uint64_t me = readers.threads().identity();
  readers.for_each_tomb_of(&table, [me](Tomb& tomb, uint64_t) {
    if (tomb.taker.load(kRelaxed) == me) tomb.table.store(nullptr, kRelease);  // the same
  });
}

void end_all_handed_off(Readers& readers) {
  constexpr int kMaxRounds = 16;
  bool any = true;  // again, because their delete_fns may hand off others
  for (int round = 0; any && round < kMaxRounds; ++round)
    any = end_open(readers, nullptr, [&](Tomb& tomb) { delete_handed_off(readers, tomb); });
}

}  // namespace attrcache
