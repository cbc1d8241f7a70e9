// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Borrows and copies against sets and deletes of the same value: a thread that deletes a value that
// others hold hands the deletion off to them, and goes on.

#include "platform/wait.h"
#include "readers/tomb.h"
#include "tests/model/explorer/atomic.h"
#include "tests/model/race.h"

namespace attrcache::model {
namespace {

constexpr Setting kOfThree = {{2, 0}};
constexpr auto kCopy = Fixture::kCopy;

// Of a value that was held before: with light and with full readers.
template <typename Also, typename... Threads>
void race_held(const Setting& setting, Also also, Threads... threads) {
  race(setting, in_turn(often_held(), also), threads...);
  race(setting, in_turn(was_held(), also), threads...);
}
const auto held_and_fails = in_turn(often_held(), fails());

// ---- Borrow ----

TEST(Hold, BorrowAgainstDelete) { race_held({}, nothing, erase, use); }
TEST(Hold, BorrowAgainstSet) { race_held({}, nothing, set(2), use_what_is_there); }
// The borrower holds the value that the set has put back, or has kept it from putting it back.
TEST(Hold, BorrowAgainstAFailingSet) { race_held({}, fails(), set(2), use_what_is_there); }
TEST(Hold, TwoBorrowsAgainstSet) {
  race_held(kOfThree, nothing, set(2), use_what_is_there, use_what_is_there);
}
TEST(Hold, TwoBorrowsAgainstDelete) { race_held(kOfThree, nothing, erase, use, use); }

TEST(FirstBorrow, AgainstDelete) { race({}, attached(), erase, use); }
TEST(FirstBorrow, AgainstSet) { race({}, attached(), set(2), use_what_is_there); }
TEST(FirstBorrow, OfTwoAgainstDelete) { race(kOfThree, attached(), erase, use, use); }

// The second borrow makes the value light, beside full readers and those who delete it.
const auto twice = in_turn(use, use);
TEST(BorrowThatLightens, BesideSet) { race({}, was_held(), twice, set(2)); }
TEST(BorrowThatLightens, BesideDelete) { race({}, was_held(), twice, erase); }
TEST(BorrowThatLightens, BesideAFailingSet) {
  race({}, in_turn(was_held(), fails()), twice, set(2));
}
TEST(BorrowThatLightens, BesideAFailingDelete) {
  race({}, in_turn(was_held(), fails()), twice, erase);
}
TEST(BorrowThatLightens, BesideAFullReaderAndDelete) {
  race(kOfThree, was_held(), twice, use, erase);
}
TEST(BorrowThatLightens, BesideALightReaderAndSet) {
  race(kOfThree, was_held(), twice, twice, set(2));
}

TEST(Borrow, AgainstAFailingDelete) { race({}, held_and_fails, erase, use); }
TEST(Borrow, OfWhatWasJustSet) { race({}, keyval(), set(1), use); }
TEST(Borrow, BesideSetAndDelete) { race(kOfThree, often_held(), set(2), erase, use); }
// The refused value is taken up by the second set, or by the borrower, or by nobody.
TEST(Borrow, BesideTwoFailingSets) {
  race(kOfThree, in_turn(held_and_fails, fails(2)), set(2), set(3), use_what_is_there);
}
// The same value is held again while its deletion fails repeatedly.
TEST(Borrow, TwiceBesideFailingSetsInTurn) {
  race(kOfThree, in_turn(often_held(), fails(1, 2)), in_turn(set(2), set(3)),
       in_turn(use_what_is_there, use_what_is_there));
}
// Sets in turn leave more than one value to the same thread, which holds one after the other.
TEST(Borrow, TwiceBesideSetsInTurn) {
  const auto borrow_two = [](Fixture& f) {
    attrcache_borrowed first = {}, second = {};
    expect(f.borrow(0, 0, &first) && f.borrow(0, 0, &second), "there is always a value");
    f.give_back(&first);
    f.give_back(&second);
  };
  race(kOfThree, often_held(), in_turn(set(2), set(3)), borrow_two);
}

// A borrower runs no deletion of what it has never tried to hold, though the two attachments share a
// bucket of tombs, and the other value's holder has yet to look.
TEST(Borrow, NeverDeletesWhatItHasNotAnnounced) {
  const auto not_by_the_last = [](Fixture&, int value) {
    expect(value != 2 || now().thread != 2, "it has only held the third value");
  };
  const auto use_third = [](Fixture& f) {
    const bool third = f.get(0, 0) == 3;
    reaches("it holds the third value", third);
    if (third) f.use(0, 0);
  };
  const auto race_after = [&](auto held) {
    race(kOfThree, in_turn(attached(), set(2), held, on_delete(not_by_the_last)), use, set(3),
         use_third);
  };
  race_after(use);
  race_after(in_turn(use, use, use));
}

// Holds a value during a call.
template <typename Call>
auto holding(Call call) {
  return [=](Fixture& f) {
    attrcache_borrowed borrowed = {};
    if (!f.borrow(0, 0, &borrowed)) return;
    call(f);
    f.give_back(&borrowed);
  };
}
// When the kernel's fence has reached the first of two holders, that one gives back, and takes the
// second for a holder still: but the second has given back already, and seen no tomb. So the
// deleter must see the first's turn.
TEST(Borrow, ByTwoBesideAFenceThatReachesOneAfterTheOther) {
  static attrcache_borrowed held[2];
  const auto holding_both = [](Fixture& f) {
    for (unsigned i = 0; i < 2; ++i) {
      held[i] = {};
      as_thread(i + 1, [&] { expect(f.borrow(0, 0, &held[i]), "it is held"); });
    }
  };
  const auto give_back = [](int i) { return [i](Fixture& f) { f.give_back(&held[i]); }; };
  const Options bound = {.preemptions = 1, .stale_reads = 3, .gradual_fences = true};
  race({bound}, in_turn(often_held(), holding_both), erase, give_back(0), give_back(1));
}

// A holder of an older value of the slot lets go, and goes on to hold an attachment of another table
// that has the same number. A deleter that looks just then must not take it for a holder.
TEST(Borrow, OfTheSameNumberInAnotherTable) {
  static attrcache_borrowed older, held;
  const auto hold = [](Fixture& f) {
    older = {}, held = {};
    for (int value : {3, 4}) f.set(1, 0, value);
    as_thread(2, [&] { expect(f.borrow(0, 0, &older), "it holds value 1"); });
    f.set(0, 0, 2);
    as_thread(1, [&] { expect(f.borrow(0, 0, &held), "it holds value 2"); });
    expect(Table::of(&f.table(0)).now() == Table::of(&f.table(1)).now(), "both are the second");
  };
  race(
      {{2, 0}}, in_turn(often_held(), hold), set(5), [](Fixture& f) { f.give_back(&held); },
      [](Fixture& f) {
        f.give_back(&older);
        f.use(1, 0);
      });
}

// A deletion may also be handed off to the thread itself, if it has borrowed the value.
TEST(Borrow, ByTheThreadThatDeletesOrReplacesIt) {
  race({}, attached(), holding(erase), erase);
  race({}, attached(), holding(set(2)), erase);
}
TEST(Borrow, OfWhatABusyFreeLeaves) {
  race({}, attached(), holding(in_turn(delete_all, erase)), [](Fixture&) {});
}
// The last give_back runs delete_fn, which fails, and no call returns the failure.
TEST(Borrow, OfWhatCantBeDeleted) { race({}, held_and_fails, holding(set(2)), use); }

// A delete_fn that runs in a give_back uses the same attribute.
TEST(Borrow, WhoseGiveBackSetsAgain) {
  const auto set_again = [](Fixture& f, int value) {
    if (value != 1) return;
    f.use(0, 0);
    f.set(0, 0, 3);
  };
  race(kOfThree, in_turn(often_held(), on_delete(set_again)), set(2), use_what_is_there);
}
TEST(Borrow, WhoseGiveBackFreesTheObject) {
  const auto free = [](Fixture& f, int value) {
    if (value == 1) delete_all(f);
  };
  race(kOfThree, in_turn(often_held(), on_delete(free)), set(2), use);
}

// Threads that go through steps together.
Atomic<int> step;
constexpr auto at_step_0 = [](Fixture&) { step.store(0, kRelaxed); };
constexpr auto at_step_1 = [](Fixture&) { step.store(1, kRelease); };
void wait_for(int n) {
  for (Backoff backoff; step.load(kAcquire) < n;) backoff.relax();
}
void step_and_wait_for(int n) {
  step.fetch_add(1, kAcqRel);
  wait_for(n);
}
auto hold_until(int n) {
  return holding([n](Fixture&) { step_and_wait_for(n); });
}
// Two holders let go at the same time: one of them finds that it is the last.
TEST(Borrow, ByTwoOfWhatIsLeft) {
  const auto erase_it = [](Fixture& f) {
    wait_for(1);
    f.erase(0, 0);
    step_and_wait_for(2);
  };
  race({{1, 2}}, in_turn(often_held(), at_step_0), holding(erase_it), hold_until(2));
}

// One borrow fails to hold two values, both of which are handed off to it.
TEST(Borrow, WhoseAttemptsFailTwice) {
  static int left;
  const auto begin = [](Fixture&) { left = 0; };
  const auto count = [](Fixture&, int) {
    left += now().thread == 0;
    reaches("two", left == 2);
  };
  const auto set_two = [](Fixture& f) {
    f.set(0, 0, 2);
    step_and_wait_for(2);
    f.set(0, 0, 3);
  };
  const auto use_second = [](Fixture& f) {
    wait_for(1);
    f.use(0, 0);
    step_and_wait_for(2);
  };
  race({{2, 0, true}}, in_turn(often_held(), at_step_0, begin, on_delete(count)), use_what_is_there,
       set_two, use_second);
}

// Each holds what the other one deletes.
TEST(Borrow, ByTwoThatDeleteWhatTheOtherHolds) {
  const auto both_read = [](Fixture& f) {
    for (int key = 0; key < 2; ++key) {
      f.make_key(Fixture::kDelete);
      f.set(0, key, 1 + key);
      f.use(0, key);
    }
  };
  const auto hold_and_delete = [](int key) {
    return [=](Fixture& f) {
      attrcache_borrowed borrowed = {};
      const bool holds = f.borrow(0, key, &borrowed);
      expect(f.erase(0, 1 - key) == ATTRCACHE_OK, "nobody waits");
      if (holds) f.give_back(&borrowed);
    };
  };
  race(kOfThree, both_read, hold_and_delete(0), hold_and_delete(1));
}

// The keyval lives until the left deletion is done, though nothing is attached any more.
TEST(Borrow, BesideDeleteAndFreeKeyval) {
  race(kOfThree, often_held(), in_turn(erase, free_keyval), use);
}
// Nothing is found under a keyval that is gone.
TEST(Borrow, AgainstTheLastDeleteOfAFreedKeyval) {
  const auto use_and_get = [](Fixture& f) {
    f.use(0, 0);
    if (f.keys[0].destroyed != 0) expect(f.get(0, 0) == 0, "the last value is gone, too");
  };
  race(kOfThree, in_turn(often_held(), free_keyval), erase, use_and_get);
}
// The new value has its own reference: deleting it ends no keyval whose delete_fn still runs.
TEST(Borrow, BesideAFailingSetADeleteAndFreeKeyval) {
  race(kOfThree, held_and_fails, set(2), in_turn(erase, free_keyval));
}

// ---- Copies ----

constexpr auto copy_what_is_there = [](Fixture& f) {
  f.copy(0, 1);
  expect(f.get(1, 0) > 5, "a value that is being replaced is copied");
};
TEST(Copy, AgainstDelete) {
  race({}, often_held(kCopy), copy, erase);
  race({}, was_held(kCopy), copy, erase);
}
TEST(Copy, AgainstSet) { race({}, attached(kCopy), copy_what_is_there, set(2)); }
TEST(Copy, AgainstAFailingSet) {
  race({}, in_turn(was_held(kCopy), fails()), copy_what_is_there, set(2));
}
TEST(Copy, AgainstBorrowAndDelete) { race(kOfThree, was_held(kCopy), copy, use, erase); }

// A copy_fn that deletes or replaces what it copies gives up its hold.
void copies_that_change(OnCallback change) {
  race(kOfThree, in_turn(was_held(kCopy), on_copy(change)), copy, erase, use);
}
TEST(Copy, ThatDeletesWhatItCopies) {
  copies_that_change([](Fixture& f, int) { f.erase(0, 0); });
}
TEST(Copy, ThatReplacesWhatItCopiesTwice) {
  copies_that_change([](Fixture& f, int value) {
    if (value == 1) in_turn(set(2), set(3))(f);
  });
}

// A failed attempt to hold the first value looks like a holder, so the deletion may be handed off
// to the copier. It runs that before it goes on with the second value.
TEST(Copy, DeletesFirstWhatItHasFailedToHold) {
  const auto copy_fn = [](Fixture& f, int value) {
    if (value != 2 || step.load(kAcquire) == 0) return;
    expect(f.values[1].deleted == 1, "nobody holds the first value");
  };
  const auto by_copier = [](Fixture&, int value) {
    reaches("handed off to the copier", value == 1 && now().thread == 0);
  };
  race({}, in_turn(at_step_0, was_held(kCopy), on_copy(copy_fn), on_delete(by_copier)), copy,
       in_turn(set(2), at_step_1));
}

// Copy_fns that attach nothing.
auto held_and_on_copy(OnCallback call) {
  const auto attach_none = [](Fixture& f) { f.keys[0].no_copies = true; };
  return in_turn(was_held(kCopy), attach_none, on_copy(call));
}
template <typename End>
void copy_ends_it_at_once(End end) {
  static End end_it = end;
  const auto copy_and_end = [](Fixture& f, int value) {
    if (f.depth++ != 0) return;
    f.copy(0, 2);  // which holds it once more, up the stack
    end_it(f);
    expect(f.values[value].deleted == 1, "at once");
  };
  race({{}}, held_and_on_copy(copy_and_end), copy);
}
TEST(Copy, ThatDeletesAtOnceInOneThread) { copy_ends_it_at_once(erase); }
TEST(Copy, ThatFreesAtOnceInOneThread) { copy_ends_it_at_once(delete_all); }

// Two nested copy_fns of one thread hold the same value, which another thread deletes.
TEST(Copy, WithinACopyOfTheSame) {
  const auto copy_again = [](Fixture& f, int value) {
    if (f.depth++ == 0) f.copy(0, 2);
    expect(f.values[value].body.read() == value, "still held by the outer one");
  };
  race(kOfThree, held_and_on_copy(copy_again), copy, erase);
}

// A delete_fn that duplicates its object. Its own value is still attached, and so it is copied,
// unless another thread's set or delete has ended that.
void copies_within_its_delete(void (*other)(Fixture&), int failures = 0) {
  const auto copy_once = [](Fixture& f, int value) {
    if (value != 1 || f.values[1].failed != 0) return;
    f.copy(0, 1);
    if (now().thread != 0) return;  // only the first thread deletes
    if (f.get(0, 0) != 0) expect(f.get(1, 0) != 0, "a value being deleted up the stack is copied");
  };
  race({}, in_turn(attached(kCopy), on_delete(copy_once), fails(1, failures)), erase, other);
}
TEST(Copy, WithinItsDeleteAgainstSet) {
  copies_within_its_delete([](Fixture& f) { f.set(0, 0, 2); });
}
TEST(Copy, WithinItsDeleteAgainstDelete) { copies_within_its_delete(erase); }
TEST(Copy, WithinItsFailingDelete) {
  copies_within_its_delete([](Fixture& f) { f.set(0, 0, 2); }, 1);
}

// The keyval is freed while its last value is being copied, and deleted.
TEST(Copy, AgainstDeleteAndFreeKeyval) {
  race(kOfThree, was_held(kCopy), copy, in_turn(erase, free_keyval));
}

// ---- Free ----

// A held value keeps its object from being freed; no thread waits.
TEST(Hold, BorrowAgainstFree) {
  const auto free = [](Fixture& f) { reaches("busy", !is_freed(f)); };
  race_held({}, attach_second, free, use);
}

// So does a deletion that was left; also if the thread that frees the object has used the same tomb
// before, for its own deletion.
TEST(Free, BesideWhatIsLeftInATombOfItsOwn) {
  const auto set_and_free = [](Fixture& f) {
    holding(set(2))(f);
    step_and_wait_for(2);
    f.set(0, 0, 3);
    step_and_wait_for(3);
    const int result = f.erase_all(0);
    expect(result == ATTRCACHE_ERR_BUSY || f.values[2].deleted == 1, "nothing is left");
  };
  const auto use_second = [](Fixture& f) {
    wait_for(1);
    hold_until(3)(f);
  };
  race(kOfThree, in_turn(attached(), at_step_0), set_and_free, use_second);
}

// So does one that is left when the object has no attributes any more.
// A deletion that was handed off ends, and its tomb is used for another object's next. The free's
// delete_fn must see what that deletion has done with the object, which is here the last value's body.
TEST(Free, BesideATombThatGoesOnToAnotherObject) {
  static attrcache_borrowed held[2];
  constexpr auto write_and_read = [](Fixture& f, int value) {
    if (value == 1) f.values[Fixture::kValues].body.write(1);
    if (value == 2) f.values[Fixture::kValues].body.read();
  };
  const auto hold = [](Fixture& f) {
    f.set(1, 0, 3);
    as_thread(1, [&] {
      for (int object : {0, 1}) {
        held[object] = {};
        expect(f.borrow(object, 0, &held[object]), "it holds both");
      }
    });
    f.set(0, 0, 2);
  };
  race({}, in_turn(attached(), on_delete(write_and_read), hold), delete_all, [](Fixture& f) {
    f.give_back(&held[0]);
    f.set(1, 0, 4);
    f.give_back(&held[1]);
  });
}
TEST(Free, OfAnEmptyObjectBesideWhatIsLeft) {
  const auto erase_and_free = holding([](Fixture& f) {
    f.erase(0, 0);
    expect(f.erase_all(0) == ATTRCACHE_ERR_BUSY, "its deletion is left");
  });
  race({}, attached(), erase_and_free, [](Fixture&) {});
}

// So does a deletion that a second delete has hidden.
TEST(Free, BesideAHiddenDeletion) {
  const auto hide_and_free = [](Fixture& f) {
    f.erase(0, 0);
    expect(!is_freed(f) || f.values[1].deleted == 1, "no deletion is under way");
  };
  race({}, often_held(), erase, hide_and_free);
}

// So does what a delete_fn of that free has borrowed, and has yet to give back.
TEST(Free, OfWhatItsOwnDeleteFnBorrows) {
  static attrcache_borrowed borrowed;
  const auto borrow_first = [](Fixture& f, int) { f.borrow(0, 0, &borrowed); };
  const auto free = [=](Fixture& f) {
    borrowed = {};
    attach_second(f);
    f.use(0, 1);
    on_delete(borrow_first, 1)(f);
    expect(f.erase_all(0) == ATTRCACHE_ERR_BUSY && f.values[1].deleted == 0, "it is held");
    f.give_back(&borrowed);
  };
  race({}, was_held(), free);
}

// A copy_fn frees the object that it copies, after the deletion of the value was handed off to it.
TEST(Free, OfWhatTheCopyFnCopies) {
  const auto free = [](Fixture& f, int value) {
    if (step.load(kAcquire) == 0 || value != 1) return;
    expect(f.erase_all(0) == ATTRCACHE_OK, "nobody else uses it");
    expect(f.values[1].deleted == 1, "what was left is deleted before the object is gone");
  };
  race(kOfThree, in_turn(at_step_0, held_and_on_copy(free)), copy, in_turn(set(2), at_step_1));
}

// A thread that has looked at a tomb doesn't take it when it is used again, for another value.
TEST(Tomb, UsedAgainIsNotTheOneBefore) {
  run_model({}, [] {
    Tomb tomb;
    const auto leave = [&tomb](uint64_t value) {
      expect(tomb.place(), "it is free");
      tomb.value.store(value, kRelaxed);
      return tomb.open();
    };
    const uint64_t first = leave(1);
    bool again = false;
    spawn([&tomb] {
      const uint64_t now = tomb.state.load(kAcquire);
      const uint64_t value = tomb.value.load(kRelaxed);
      if (Tomb::phase(now) == Tomb::kOpen && tomb.turn(now) && tomb.take(now)) {
        expect(tomb.value.load(kRelaxed) == value, "the tomb that it has looked at");
      }
    });
    spawn([&] {
      again = tomb.take(first);
      if (!again) return;
      tomb.free();
      leave(2);
    });
    join();
    reaches("it is used again", again);
  });
}

}  // namespace
}  // namespace attrcache::model
