// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/hold.h"

#include <utility>

#include "platform/wait.h"
#include "table/attribute.h"
#include "table/circle.h"
#include "table/claimed.h"
#include "table/get.h"
#include "table/get_predefined.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// The attempt of a thread to hold a value.
class Attempt {
 public:
  Attempt(const Target& target, Pair& slot, id::Keyval keyval, Says says, uint64_t more)
      : target_(target),
        readers_(target.registry.readers()),
        slot_(slot),
        keyval_(keyval),
        says_(says),
        more_(more) {}
  int hold(Hold* held);

 private:
  enum class Step { kHeld, kAgain, kAbsent, kDeleting, kDeadlock, kMemory };
  Step on_attached();
  Step on_claimed();
  Step await();
  bool holds_already(uint64_t* announced) const;
  Step answer(bool over);
  void withdraw();

  const Target& target_;
  Readers& readers_;
  Pair& slot_;
  const id::Keyval keyval_;
  const Says says_;
  const uint64_t more_;
  Announcement* cell_ = nullptr;     // in which the attempt is announced
  Announcement* waiting_ = nullptr;  // for waits
  bool announced_ = false;
  SlotContent now_ = {};
};

int Attempt::hold(Hold* held) {
  Step step = Step::kAgain;
  for (now_ = slot_.load(); step == Step::kAgain;) {
    if (cell_ == nullptr && (cell_ = readers_.take()) == nullptr) {
      step = Step::kMemory;
    } else if (!meta::visible(now_.meta) || !meta::belongs(now_.meta, keyval_)) {
      step = Step::kAbsent;
    } else {
      step = meta::deleting(now_.meta) ? on_claimed() : on_attached();
    }
  }
  if (waiting_ != nullptr) readers_.release(*waiting_);
  if (step == Step::kHeld) {
    *held = {cell_, now_};
    return ATTRCACHE_OK;
  }
  withdraw();
  if (cell_ != nullptr) readers_.release(*cell_);
  switch (step) {
    case Step::kDeleting:
      return ATTRCACHE_ERR_DELETING;
    case Step::kDeadlock:
      return ATTRCACHE_ERR_DEADLOCK;
    case Step::kMemory:
      return ATTRCACHE_ERR_MEMORY;
    default:
      return ATTRCACHE_ABSENT;
  }
}

// Ends the announcement of the attempt, which a claimer may take for one that holds the value.
void Attempt::withdraw() {
  if (!announced_) return;
  announced_ = false;
  if (says_ == Says::kCopies) {
    end_copy_hold(target_, slot_, keyval_, *cell_);
  } else {
    readers_.withdraw(*cell_, slot_);
  }
}

Attempt::Step Attempt::on_attached() {
  const uint64_t m = now_.meta;
  cell_->more.store(more_, kRelaxed);
  readers_.announce(*cell_, slot_, says_, m);
  announced_ = true;
  if (!meta::read(m)) return slot::read(slot_, now_) ? Step::kHeld : Step::kAgain;  // (S10)
  now_ = slot_.load();
  return now_.meta == m ? Step::kHeld : Step::kAgain;
}

// The announcement by which this thread holds the claimed value already, if it does.
bool Attempt::holds_already(uint64_t* announced) const {
  const uint64_t me = readers_.threads().identity();
  const uint64_t clock = target_.table.clock.load(kRelaxed);
  return meta::read(now_.meta) && readers_.any([&](Announcement& cell, uintptr_t what) {
    if (!Announcement::is_about(what, &slot_) || !Announcement::holds(what)) return false;
    if (cell.who.load(kRelaxed) != me) return false;
    *announced = cell.meta.load(kRelaxed);
    return meta::same_attachment(*announced, now_.meta, clock);
  });
}

Attempt::Step Attempt::on_claimed() {
  withdraw();  // or the claimer would wait for this thread, which waits for it
  uint64_t announced;
  if (holds_already(&announced)) {
    cell_->more.store(more_, kRelaxed);
    readers_.announce(*cell_, slot_, says_, announced);
    readers_.tell_of_another_hold();
    announced_ = true;
    if (!is_left(readers_, target_.table, slot_, announced)) return Step::kHeld;
    withdraw();
    now_ = slot_.load();
    return Step::kAgain;
  }
  if (!meta::replacing(now_.meta)) return Step::kAbsent;
  if (is_deleting(readers_.threads().self(), target_.table, slot_, now_.meta))
    return Step::kDeleting;
  return await();
}

// Waits for the end of a replacing set, and for what whoever ends it answers.
Attempt::Step Attempt::await() {
  if (waiting_ == nullptr && (waiting_ = readers_.take()) == nullptr) return Step::kMemory;
  const uint64_t m = now_.meta;
  const Says says = says_ == Says::kCopies ? Says::kAwaitsToCopy : Says::kAwaitsToBorrow;
  readers_.announce_wait(*waiting_, slot_, says, m, 0);
  if (!slot::await(slot_, m)) return answer(true);  // (S11)
  const auto ended = [&] {
    const uintptr_t what = waiting_->what.load(kAcquire);  // pairs with tell()
    if (Announcement::is_promised(what)) return false;
    // Who comes when the slot is closed may get no answer, and looks at the slot.
    return !Announcement::awaits(what) || ((slot_.load_meta() ^ m) & meta::kClaim) != 0;
  };
  const auto stuck = [&] {
    const uint64_t who = who_replaces(readers_, slot_, m);
    return who != 0 && waits_for_me(readers_, who);
  };
  return answer(readers_.wait(slot_, ended, stuck));
}

// Takes back the announcement of a wait, or takes the answer, if there is one. `over`: whether the
// wait was for a set that has ended, or has it closed a circle.
Attempt::Step Attempt::answer(bool over) {
  for (Backoff backoff;;) {
    uintptr_t what = waiting_->what.load(kAcquire);  // pairs with tell()
    if (Announcement::is_promised(what)) {
      readers_.threads().wait(backoff);
    } else if (Announcement::holds(what)) {
      std::swap(cell_, waiting_);
      now_ = {cell_->more.load(kRelaxed), cell_->meta.load(kRelaxed)};
      cell_->more.store(more_, kRelaxed);
      return Step::kHeld;
    } else if (!Announcement::awaits(what)) {
      return Step::kAbsent;
    } else if (waiting_->what.compare_exchange_weak(what, uintptr_t(Says::kTaken), kAcqRel,
                                                    kAcquire)) {
      now_ = slot_.load();
      return over ? Step::kAgain : Step::kDeadlock;
    }
  }
}

}  // namespace

int hold_value(const Target& target, Pair& slot, id::Keyval keyval, Says says, uint64_t more,
               Hold* hold) {
  return Attempt(target, slot, keyval, says, more).hold(hold);
}

bool has_borrowed(const Readers& readers, const Pair& slot, uint64_t m) {
  if (!meta::read(m)) return false;
  const uint64_t me = readers.threads().identity();
  const uintptr_t borrows = Announcement::of(&slot, Says::kBorrows);
  return readers.any([&](Announcement& cell, uintptr_t what) {
    return what == borrows && cell.who.load(kRelaxed) == me;
  });
}

namespace {

// What a cell that the slow way uses says of the attrcache_borrowed that it keeps: its address,
// with a bit that tells it from those of the fast way.
uint64_t mark_of(const Borrowed* borrowed) { return reinterpret_cast<uintptr_t>(borrowed) | 1; }

// Whether `borrowed` holds something that the calling thread has borrowed in this domain.
bool in_use(const Readers& readers, const Borrowed* borrowed) {
  const uint64_t me = readers.threads().identity();
  return readers.any_used([&](Announcement& cell, uintptr_t what) {
    const Says says = Announcement::says(what);
    if (says != Says::kBorrows && says != Says::kGivenUp) return false;
    return (cell.more.load(kRelaxed) | 1) == mark_of(borrowed) && cell.who.load(kRelaxed) == me;
  });
}

// Ends the announcement of an attempt that takes the slow way after all.
void withdraw_first(Readers& readers, Announcement& cell, const Pair& slot) {
  Readers::retract(cell, 0);
  readers.tell_of_withdrawal(slot);
}

// A borrow of the number of a predefined keyval.
[[gnu::noinline, gnu::cold]] int borrow_predefined(Registry& registry, Table& table,
                                                   id::Keyval keyval, Borrowed* borrowed) {
  const int number = registry.number_of(keyval);
  const Definition* const definition = registry.definitions().find(number);
  if (definition != nullptr && definition->where == ATTRCACHE_PER_OBJECT) {
    return borrow_attribute(registry, table, definition->keyval, borrowed);
  }
  PredefinedValue value;
  const int result = get_predefined(registry, table, number, &value);
  if (result != ATTRCACHE_OK) return result;
  Readers& readers = registry.readers();
  Announcement* const cell = readers.take();
  if (cell == nullptr) return ATTRCACHE_ERR_MEMORY;
  cell->more.store(mark_of(borrowed), kRelaxed);
  cell->what.store(uintptr_t(Says::kGivenUp), kRelease);  // nothing to keep alive
  *borrowed = {value.in_c, cell, &readers};
  return ATTRCACHE_OK;
}

void keep(Readers& readers, const Hold& hold, const Pair& slot, Borrowed* borrowed) {
  const SlotContent& held = hold.content;
  *borrowed = {seen_by_c(held.value, slot.value_address(), tag_of(held.meta)), hold.cell, &readers};
}

[[gnu::noinline]] int borrow_slowly(Registry& registry, Table& table, id::Keyval keyval,
                                    Borrowed* borrowed) {
  Readers& readers = registry.readers();
  // Borrowing into a Borrowed still in use would lose its value.
  if (borrowed->holds() && in_use(readers, borrowed)) return ATTRCACHE_ERR_ARGUMENT;
  if (registry.look_up(keyval) == 0) {
    return id::well_formed(keyval) ? registry.why_not(keyval)
                                   : borrow_predefined(registry, table, keyval, borrowed);
  }
  Pair* const slot = table.find(id::index(keyval));
  if (slot == nullptr) return ATTRCACHE_ABSENT;
  Hold hold;
  const int result = hold_value({registry, table, nullptr}, *slot, keyval, Says::kBorrows,
                                mark_of(borrowed), &hold);
  if (result == ATTRCACHE_OK) keep(readers, hold, *slot, borrowed);
  return result;
}

// A borrow in another cell than the first, or of a value that isn't a C pointer: in the usual case,
// too.
int borrow_next(Registry& registry, Table& table, id::Keyval keyval, Borrowed* borrowed) {
  Pair* const slot = table.find(id::index(keyval));
  const uint64_t m = slot != nullptr ? slot->load_meta() : 0;
  if (!meta::belongs(m, keyval) || borrowed->holds()) {
    return borrow_slowly(registry, table, keyval, borrowed);
  }
  Readers& readers = registry.readers();
  Hold hold;
  if ((hold.cell = readers.take()) == nullptr) return ATTRCACHE_ERR_MEMORY;
  hold.cell->more.store(mark_of(borrowed), kRelaxed);
  if (!hold_at_once(readers, *hold.cell, *slot, m, Says::kBorrows, &hold.content)) {
    readers.release(*hold.cell);
    readers.tell_of_withdrawal(*slot);
    return borrow_slowly(registry, table, keyval, borrowed);
  }
  keep(readers, hold, *slot, borrowed);
  return ATTRCACHE_OK;
}

}  // namespace

int retry_borrow(Registry& registry, Table& table, id::Keyval keyval, Borrowed* borrowed,
                 Pair* slot) {
  Readers& readers = registry.readers();
  withdraw_first(readers, readers.near_record().first, *slot);
  return borrow_slowly(registry, table, keyval, borrowed);
}

int borrow_attribute(Registry& registry, Table& table, id::Keyval keyval, Borrowed* borrowed) {
  const auto next = [&] { return borrow_next(registry, table, keyval, borrowed); };
  if (registry.readers().light()) return next();
  return borrow_first<AsymmetricFence::Of::kFull>(registry, table, keyval, borrowed, next);
}

int give_back_attribute(Borrowed* borrowed) {
  Announcement* const cell = borrowed->cell;
  if (cell == nullptr) return ATTRCACHE_ERR_ARGUMENT;
  const uint64_t keeps = cell->more.load(kRelaxed);
  if ((keeps | 1) != mark_of(borrowed)) return ATTRCACHE_ERR_ARGUMENT;  // or a copy of a Borrowed
  const bool is_first = keeps != mark_of(borrowed);
  Readers& readers = is_first ? *ThreadRecord::of_first(*cell).readers : *borrowed->readers;
  if (cell->who.load(kRelaxed) != readers.threads().identity()) return ATTRCACHE_ERR_THREAD;
  borrowed->cell = nullptr;
  const uintptr_t what = cell->what.load(kRelaxed);
  readers.release(*cell);
  // Else its table was abandoned, or it is a predefined value.
  if (Announcement::is_about_any(what)) readers.tell_of_withdrawal(*Announcement::slot(what));
  return ATTRCACHE_OK;
}

}  // namespace attrcache
