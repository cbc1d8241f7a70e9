// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// For borrows and copies beside it, a replacing set is one step. And nobody starves: no later pin
// gets ahead of a claim, and a set hands pinners that wait for it their pins.

#include "platform/wait.h"
#include "table/attribute.h"
#include "table/meta.h"
#include "tests/model/explorer/atomic.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// Borrows where there always is a value, and gives it back.
void borrow_what_is_there(Fixture& f) {
  attrcache_borrowed borrowed = {};
  expect(f.borrow(0, 0, &borrowed), "there is always a value to be borrowed");
  f.give_back(&borrowed);
}

TEST(Replace, BorrowFindsTheOldValueOrTheNew) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { borrow_what_is_there(f); });
  });
}

TEST(Replace, TwoBorrowsFindTheOldValueOrTheNew) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    for (int t = 0; t < 2; ++t) spawn([&f] { borrow_what_is_there(f); });
  });
}

// The pin that is handed over is one of the old value, which stays.
TEST(Replace, BorrowBesideASetThatFails) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.values[1].failures = 1;
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { borrow_what_is_there(f); });
  });
}

// Of two sets, the second finds the value being deleted and attaches its own.
TEST(Replace, BorrowBesideTwoSets) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    for (int t = 0; t < 2; ++t) spawn([&f, t] { f.set(0, 0, 2 + t); });
    spawn([&f] { borrow_what_is_there(f); });
  });
}

// Set after set: the borrower waits for one of them, and need not find the moment in between.
TEST(Replace, BorrowBesideSetsThatFollowOneAnother) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] {
      f.set(0, 0, 2);
      f.set(0, 0, 3);
    });
    spawn([&f] { borrow_what_is_there(f); });
  });
}

// The old value is deleted by a third thread while it is replaced, and the borrower waits.
TEST(Replace, BorrowBesideSetAndDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (f.borrow(0, 0, &borrowed)) f.give_back(&borrowed);
    });
  });
}

// A borrow beside a set that fails, and a delete, so that there is nothing in the end: it is told so.
void borrow_beside_a_failing_set_and_a_delete(Bound bound, bool no_delete_fn) {
  run_with_fixture(bound, [no_delete_fn](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.values[1].failures = 1;
    spawn([&f, no_delete_fn] {
      f.set(0, 0, 2);
      if (!no_delete_fn) f.set(0, 0, 3);
    });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (f.borrow(0, 0, &borrowed)) f.give_back(&borrowed);
    });
  });
}
TEST(Replace, BorrowBesideAFailingSetAndADelete) {
  borrow_beside_a_failing_set_and_a_delete({2, 1}, true);
}
TEST(Replace, BorrowBesideAFailingSetADeleteAndTheNextSet) {
  borrow_beside_a_failing_set_and_a_delete({2, 0}, false);
}

// Two who wait are told that there is nothing.
TEST(Replace, TwoBorrowsBesideAFailingSetAndADelete) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int value) {
      if (value == 1) fixture.erase(0, 0);  // hides it, while others wait
    };
    f.set(0, 0, 1);
    f.values[1].failures = 1;
    spawn([&f] {
      f.set(0, 0, 2);
      f.set(0, 0, 3);
    });
    for (int t = 0; t < 2; ++t) {
      spawn([&f] {
        attrcache_borrowed borrowed = {};
        if (f.borrow(0, 0, &borrowed)) f.give_back(&borrowed);
      });
    }
  });
}

// And the keyval goes meanwhile: the set's was the last reference.
TEST(Replace, BorrowBesideAFailingSetAndTheEndOfTheKeyval) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int value) {
      if (value == 1) fixture.erase(0, 0);
    };
    f.set(0, 0, 1);
    f.values[1].failures = 1;
    spawn([&f] {
      f.set(0, 0, 2);
      f.free(0);
    });
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (f.borrow(0, 0, &borrowed)) f.give_back(&borrowed);
    });
  });
}

// A copy, by copy_fn and by DUP_FN, of an attribute that is only ever replaced.
TEST(Replace, CopyFindsTheOldValueOrTheNew) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] {
      f.copy(0, 1);
      expect(f.get(1, 0) > 5, "what is only replaced is copied");
    });
  });
}

TEST(Replace, DuplicateOfWhatHasADeleteFn) {
  run_model({}, [] {
    Fixture f;
    attrcache_callbacks callbacks = {};
    callbacks.copy_fn = ATTRCACHE_DUP_FN;
    callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(
        +[](void*, int, void*, void*) { return ATTRCACHE_OK; });
    int keyval;
    attrcache_keyval_create(f.kind(), &callbacks, &keyval);
    const auto set = [&f, keyval](int object, intptr_t value) {
      return attrcache_set(f.kind(), &f.table(object), nullptr, keyval, value, ATTRCACHE_AS_POINTER,
                           nullptr);
    };
    expect(set(0, 1) == ATTRCACHE_OK, "set");
    spawn([&set] { expect(set(0, 2) == ATTRCACHE_OK, "replaced"); });
    spawn([&f, keyval] {
      expect(attrcache_copy_all(f.kind(), &f.table(0), nullptr, &f.table(1), nullptr, nullptr) ==
                 ATTRCACHE_OK,
             "copied");
      void* value;
      expect(attrcache_get(f.kind(), &f.table(1), keyval, &value) == ATTRCACHE_OK,
             "what is only replaced is copied");
    });
    join();
    attrcache_keyval_free(f.kind(), &keyval);
    f.finish();
  });
}

// Once a claim is to be seen, nobody gets hold of the value any more but those who hold it. The
// second borrower comes again and again; the first holds the value all the time.
void later_pins_do_not_pass(Bound bound, void (*claim)(Fixture&)) {
  run_with_fixture(bound, [claim](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] {
      attrcache_borrowed first = {};
      if (!f.borrow(0, 0, &first)) return;
      const bool claimed = meta::deleting(f.slot(0).load_meta());
      attrcache_borrowed again = {};
      const bool both = f.borrow(0, 0, &again);
      expect(!claimed || both, "who holds it may borrow it again");
      if (both) f.give_back(&again);
      f.give_back(&first);
    });
    spawn([&f, claim] { claim(f); });
    spawn([&f] {
      for (int round = 0; round < 2; ++round) {
        const bool claimed = meta::deleting(f.slot(0).load_meta());
        attrcache_borrowed borrowed = {};
        if (!f.borrow(0, 0, &borrowed)) continue;
        expect(!claimed || borrowed.value != &f.values[1], "later pins don't pass a claim");
        f.give_back(&borrowed);
      }
    });
  });
}
TEST(Claim, OfASetIsNotPassedByLaterBorrows) {
  later_pins_do_not_pass({2, 0}, [](Fixture& f) { f.set(0, 0, 2); });
}
TEST(Claim, OfADeleteIsNotPassedByLaterBorrows) {
  later_pins_do_not_pass({2, 0}, [](Fixture& f) { f.erase(0, 0); });
}

// A set that finds a claimed value pinned waits with the claimer, and for nobody else.
TEST(Claim, TwoSetsWaitForOneBorrow) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    for (int t = 0; t < 2; ++t) spawn([&f, t] { f.set(0, 0, 2 + t); });
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (f.borrow(0, 0, &borrowed)) f.give_back(&borrowed);
    });
  });
}

// Without delete_fn, too: the claim is there for the pins alone.
TEST(Claim, OfAQuickValue) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    spawn([&f] {
      f.set(0, 0, 2);
      f.set(0, 0, 3);
    });
    for (int t = 0; t < 2; ++t) spawn([&f] { borrow_what_is_there(f); });
  });
}

// Whoever sets what it copies gives its own pin up, also where another thread waits for it already.
TEST(Claim, ByTwoWhoCopyIt) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy).on_copy = [](Fixture& fixture, int value) {
      if (value == 1) fixture.set(0, 0, 2);
    };
    f.set(0, 0, 1);
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { f.set(0, 0, 3); });
  });
}

// The set is up the borrower's own stack, so it can't be waited for.
TEST(Replace, BorrowUpTheStackOfTheSet) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int value) {
      attrcache_borrowed borrowed = {};
      if (value == 1) expect(!fixture.borrow(0, 0, &borrowed), "refused up the set's own stack");
    };
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.get(0, 0); });
  });
}

// A borrower is not waited for by its own set.
TEST(Claim, BySetOfWhatItHasBorrowed) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (!f.borrow(0, 0, &borrowed)) return;
      expect(f.set(0, 0, 2) == ATTRCACHE_ERR_BORROWED, "refused, not waited for");
      f.give_back(&borrowed);
    });
    spawn([&f] { f.erase(0, 0); });
  });
}

// A copy_fn gives its pin up once. What it set in its place, another thread has borrowed when it
// sets once more.
TEST(Claim, TwiceByWhoCopiesIt) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy).on_copy = [](Fixture& fixture, int value) {
      if (value != 1) return;
      fixture.set(0, 0, 2);
      fixture.set(0, 0, 3);
    };
    f.set(0, 0, 1);
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { borrow_what_is_there(f); });
  });
}

// Nobody waits for somebody else's delete: its delete_fn may wait for the borrower.
TEST(Claim, OfADeleteIsNotWaitedForByABorrow) {
  run_model({2}, [] {
    static Atomic<int> tried;
    Fixture f;
    tried.store(0, kRelaxed);
    f.make_key(Fixture::kDelete).on_delete = [](Fixture&, int) {
      Backoff backoff;
      while (tried.load(kAcquire) == 0) backoff.relax();
    };
    f.set(0, 0, 1);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (f.borrow(0, 0, &borrowed)) f.give_back(&borrowed);
      tried.store(1, kRelease);
    });
    join();
    f.finish();
  });
}

// Without a delete_fn, whoever has deleted or replaced a value may end it as soon as the call has
// returned: it is ordered after all that borrowers did who gave the value back.
void against_a_borrow_of_what_ends(void (*ends)(Fixture&)) {
  run_with_fixture({2, 1}, [ends](Fixture& f) {
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    spawn([&f, ends] {
      ends(f);
      f.values[1].body.write(0);
    });
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (!f.borrow(0, 0, &borrowed)) return;
      f.give_back(&borrowed);
    });
  });
}

TEST(NoDeleteFn, ADeletedValueIsNobodysAnyMore) {
  against_a_borrow_of_what_ends([](Fixture& f) { f.erase(0, 0); });
}

TEST(NoDeleteFn, AReplacedValueIsNobodysAnyMore) {
  against_a_borrow_of_what_ends([](Fixture& f) { f.set(0, 0, 2); });
}

// Twice: the first set takes a number of its own, the second may inherit it.
TEST(NoDeleteFn, ValuesReplacedOneAfterTheOtherAreNobodysAnyMore) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    spawn([&f] {
      for (int v = 1; v <= 2; ++v) {
        f.set(0, 0, v + 1);
        f.values[v].body.write(0);
      }
    });
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (!f.borrow(0, 0, &borrowed)) return;
      f.give_back(&borrowed);
    });
  });
}

}  // namespace
}  // namespace attrcache::model
