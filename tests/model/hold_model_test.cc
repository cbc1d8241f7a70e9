// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Borrows and copies against sets and deletes of the same value: whoever deletes a value that others
// hold leaves that to them, and goes on. With light readers, and with full ones.

#include "table/meta.h"
#include "tests/model/explorer/atomic.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// With light readers, and with full ones.
class Hold : public ::testing::TestWithParam<unsigned> {
 protected:
  template <typename Threads>
  void run(Bound bound, Threads threads) {
    run_with_fixture(bound, threads, 1, GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(Readers, Hold, ::testing::Values(0u, unsigned{ATTRCACHE_FULL_FENCES}));

// A value is attached that was read before or, with `unread`, wasn't.
void attach(Fixture& f, Fixture::Callbacks callbacks = Fixture::kDelete) {
  f.make_key(callbacks);
  f.set(0, 0, 1);
  f.use(0, 0);
}
void attach_unread(Fixture& f, Fixture::Callbacks callbacks = Fixture::kDelete) {
  f.make_key(callbacks);
  f.set(0, 0, 1);
}

// Where values are only replaced, there always is one.
void use_what_is_there(Fixture& f) {
  attrcache_borrowed borrowed = {};
  expect(f.borrow(0, 0, &borrowed), "there is always a value to be borrowed");
  f.give_back(&borrowed);
}

// ---- Borrow ----

TEST_P(Hold, BorrowAgainstDelete) {
  run({2, 1}, [](Fixture& f) {
    attach(f);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.use(0, 0); });
  });
}

TEST_P(Hold, TheFirstBorrowAgainstDelete) {
  run({2, 1}, [](Fixture& f) {
    attach_unread(f);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.use(0, 0); });
  });
}

TEST_P(Hold, BorrowAgainstSet) {
  run({2, 1}, [](Fixture& f) {
    attach(f);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { use_what_is_there(f); });
  });
}

TEST_P(Hold, TheFirstBorrowAgainstSet) {
  run({2, 1}, [](Fixture& f) {
    attach_unread(f);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { use_what_is_there(f); });
  });
}

// The value is what the set has put back, or has kept the set from doing that.
TEST_P(Hold, BorrowAgainstAFailingSet) {
  run({2, 1}, [](Fixture& f) {
    attach(f);
    f.values[1].failures = 1;
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { use_what_is_there(f); });
  });
}

TEST_P(Hold, TwoBorrowsAgainstSet) {
  run({2, 0}, [](Fixture& f) {
    attach(f);
    spawn([&f] { f.set(0, 0, 2); });
    for (int t = 0; t < 2; ++t) spawn([&f] { use_what_is_there(f); });
  });
}

TEST_P(Hold, TwoBorrowsAgainstDelete) {
  run({2, 0}, [](Fixture& f) {
    attach(f);
    spawn([&f] { f.erase(0, 0); });
    for (int t = 0; t < 2; ++t) spawn([&f] { f.use(0, 0); });
  });
}

TEST(Borrow, AgainstAFailingDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    attach(f);
    f.values[1].failures = 1;
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.use(0, 0); });
  });
}

TEST(Borrow, OfWhatWasJustSet) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    spawn([&f] { f.set(0, 0, 1); });
    spawn([&f] { f.use(0, 0); });
  });
}

TEST(Borrow, BesideSetAndDelete) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    attach(f);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.use(0, 0); });
  });
}

// The refused value is taken up by the second set, or by the borrower, or by nobody.
TEST(Borrow, BesideTwoFailingSets) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    attach(f);
    f.values[1].failures = 1;
    f.values[2].failures = 1;
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.set(0, 0, 3); });
    spawn([&f] { use_what_is_there(f); });
  });
}

// The same value is held again while its deletion fails time and again.
TEST(Borrow, TwiceBesideFailingSetsInTurn) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    attach(f);
    f.values[1].failures = 2;
    spawn([&f] {
      f.set(0, 0, 2);
      f.set(0, 0, 3);
    });
    spawn([&f] {
      use_what_is_there(f);
      use_what_is_there(f);
    });
  });
}

// Sets in turn leave more than one value to the same thread, which holds one after the other.
TEST(Borrow, TwiceBesideSetsInTurn) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    attach(f);
    spawn([&f] {
      f.set(0, 0, 2);
      f.set(0, 0, 3);
    });
    spawn([&f] {
      attrcache_borrowed first = {}, second = {};
      expect(f.borrow(0, 0, &first) && f.borrow(0, 0, &second), "there is always a value");
      f.give_back(&first);
      f.give_back(&second);
    });
  });
}

// What a thread has borrowed itself is left to it as to any other.
TEST(Borrow, ByWhoDeletesOrReplacesIt) {
  for (const bool deletes : {false, true}) {
    run_with_fixture({2, 1}, [deletes](Fixture& f) {
      f.make_key(Fixture::kDelete);
      f.set(0, 0, 1);
      spawn([&f, deletes] {
        attrcache_borrowed borrowed = {};
        if (!f.borrow(0, 0, &borrowed)) return;
        expect((deletes ? f.erase(0, 0) : f.set(0, 0, 2)) == ATTRCACHE_OK, "left to itself");
        f.give_back(&borrowed);
      });
      spawn([&f] { f.erase(0, 0); });
    });
  }
}

// The last to give back runs delete_fn, which fails, and nobody is told.
TEST(Borrow, OfWhatCantBeDeleted) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    attach(f);
    f.values[1].failures = 1;
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (!f.borrow(0, 0, &borrowed)) return;
      f.set(0, 0, 2);
      f.give_back(&borrowed);
    });
    spawn([&f] { f.use(0, 0); });
  });
}

// A delete_fn that runs in a give_back uses the same attribute.
TEST(Borrow, WhoseGiveBackSetsAgain) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int value) {
      if (value != 1) return;
      fixture.use(0, 0);
      fixture.set(0, 0, 3);
    };
    f.set(0, 0, 1);
    f.use(0, 0);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { use_what_is_there(f); });
  });
}

TEST(Borrow, WhoseGiveBackFreesTheObject) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int value) {
      if (value != 1) return;
      const int result = fixture.erase_all(0);
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY, "freed, or not yet");
    };
    f.set(0, 0, 1);
    f.use(0, 0);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.use(0, 0); });
  });
}

// Each holds what the other one deletes.
TEST(Borrow, ByTwoWhoDeleteWhatTheOtherHolds) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    for (int key = 0; key < 2; ++key) {
      f.make_key(Fixture::kDelete);
      f.set(0, key, 1 + key);
      f.use(0, key);
    }
    for (int t = 0; t < 2; ++t) {
      spawn([&f, t] {
        attrcache_borrowed borrowed = {};
        const bool holds = f.borrow(0, t, &borrowed);
        expect(f.erase(0, 1 - t) == ATTRCACHE_OK, "nobody waits");
        if (holds) f.give_back(&borrowed);
      });
    }
  });
}

// The keyval outlives what is left, though nothing is attached any more.
TEST(Borrow, BesideDeleteAndFreeKeyval) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    attach(f);
    spawn([&f] {
      f.erase(0, 0);
      f.free(0);
    });
    spawn([&f] { f.use(0, 0); });
  });
}

// And the new value has a reference of its own: a delete of it ends no keyval whose delete_fn runs.
TEST(Borrow, BesideAFailingSetADeleteAndFreeKeyval) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    attach(f);
    f.values[1].failures = 1;
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] {
      f.erase(0, 0);
      f.free(0);
    });
  });
}

// ---- Copies ----

TEST_P(Hold, CopyAgainstDelete) {
  run({2, 1}, [](Fixture& f) {
    attach(f, Fixture::kCopy);
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST_P(Hold, CopyAgainstSet) {
  run({2, 1}, [](Fixture& f) {
    attach_unread(f, Fixture::kCopy);
    spawn([&f] {
      f.copy(0, 1);
      expect(f.get(1, 0) > 5, "what is only replaced is copied");
    });
    spawn([&f] { f.set(0, 0, 2); });
  });
}

TEST(Copy, AgainstAFailingSet) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    attach(f, Fixture::kCopy);
    f.values[1].failures = 1;
    spawn([&f] {
      f.copy(0, 1);
      expect(f.get(1, 0) > 5, "what is only replaced is copied");
    });
    spawn([&f] { f.set(0, 0, 2); });
  });
}

TEST(Copy, AgainstBorrowAndDelete) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    attach(f, Fixture::kCopy);
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { f.use(0, 0); });
    spawn([&f] { f.erase(0, 0); });
  });
}

// A copy_fn that deletes or replaces what it copies gives its own hold up.
void copies_that_change(void (*change)(Fixture&, int)) {
  run_with_fixture({2, 0}, [change](Fixture& f) {
    attach(f, Fixture::kCopy);
    f.keys[0].on_copy = change;
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.use(0, 0); });
  });
}
TEST(Copy, ThatDeletesWhatItCopies) {
  copies_that_change([](Fixture& f, int) { f.erase(0, 0); });
}
TEST(Copy, ThatReplacesWhatItCopies) {
  copies_that_change([](Fixture& f, int value) {
    if (value == 1) f.set(0, 0, 2);
  });
}
TEST(Copy, ThatReplacesWhatItCopiesTwice) {
  copies_that_change([](Fixture& f, int value) {
    if (value != 1) return;
    f.set(0, 0, 2);
    f.set(0, 0, 3);
  });
}

// An attempt to hold the first value has failed, but looked like a holder, so that its deletion was
// left to it. Then copy_fn gives up its hold of the second one.
TEST(Copy, ThatDeletesWhatItCopiesAfterAnAttemptThatFailed) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    attach(f, Fixture::kCopy);
    f.keys[0].on_copy = [](Fixture& fixture, int value) {
      if (value == 2) fixture.erase(0, 0);
    };
    const auto end = [&f] {
      if (++f.depth == 2 && f.get(0, 0) != 1) expect(f.values[1].deleted == 1, "nobody holds it");
    };
    spawn([&f, end] {
      f.copy(0, 1);
      end();
    });
    spawn([&f, end] {
      f.set(0, 0, 2);
      end();
    });
  });
}

TEST(Copy, ThatDeletesItAtOnceInOneThread) {
  run_with_fixture({}, [](Fixture& f) {
    attach(f, Fixture::kCopy);
    f.keys[0].no_copies = true;
    f.keys[0].on_copy = [](Fixture& fixture, int value) {
      if (fixture.depth++ != 0) return;
      fixture.copy(0, 2);  // which holds it once more, up the stack
      fixture.erase(0, 0);
      expect(fixture.values[value].deleted == 1, "at once");
    };
    spawn([&f] { f.copy(0, 1); });
  });
}

// Two copy_fns of one thread, one within the other, hold the same value, which another one deletes.
TEST(Copy, WithinACopyOfTheSame) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    attach(f, Fixture::kCopy);
    f.keys[0].no_copies = true;
    f.keys[0].on_copy = [](Fixture& fixture, int value) {
      if (fixture.depth++ == 0) fixture.copy(0, 1);
      expect(fixture.values[value].body.read() == value, "still held by the outer one");
    };
    spawn([&f] { f.copy(0, 2); });
    spawn([&f] { f.erase(0, 0); });
  });
}

// A delete_fn that duplicates its object: its own value is still attached, so it is copied, unless
// another thread's set or delete has ended that.
void copy_once(Fixture& f, int value) {
  if (value != 1 || f.values[1].failed != 0) return;
  f.copy(0, 1);
  if (now().thread != 0) return;  // which deletes; the others don't
  if (f.get(0, 0) != 0) expect(f.get(1, 0) != 0, "what is being deleted up the stack is copied");
}

void copies_within_its_delete(void (*other)(Fixture&), int failures = 0) {
  run_with_fixture({2, 1}, [other, failures](Fixture& f) {
    f.make_key(Fixture::kCopy).on_delete = copy_once;
    f.set(0, 0, 1);
    f.values[1].failures = failures;
    spawn([&f] { f.erase(0, 0); });
    spawn([&f, other] { other(f); });
  });
}
TEST(Copy, WithinItsDeleteAgainstSet) {
  copies_within_its_delete([](Fixture& f) { f.set(0, 0, 2); });
}
TEST(Copy, WithinItsDeleteAgainstDelete) {
  copies_within_its_delete([](Fixture& f) { f.erase(0, 0); });
}
TEST(Copy, WithinItsFailingDelete) {
  copies_within_its_delete([](Fixture& f) { f.set(0, 0, 2); }, 1);
}

// The keyval is freed while its last value is being copied, and deleted.
TEST(Copy, AgainstDeleteAndFreeKeyval) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    attach(f, Fixture::kCopy);
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] {
      f.erase(0, 0);
      f.free(0);
    });
  });
}

// Copies by DUP_FN, which hold nothing, find what there is.
TEST(Copy, ByDupFnAgainstSet) {
  for (const int failures : {0, 1}) {
    run_model({2, 1}, [failures] {
      Fixture f;
      static int fails;
      fails = failures;
      attrcache_callbacks callbacks = {};
      callbacks.copy_fn = ATTRCACHE_DUP_FN;
      callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(
          +[](void*, int, void*, void*) { return fails-- > 0 ? 7 : 0; });
      int keyval;
      attrcache_keyval_create(f.kind(), &callbacks, &keyval);
      const auto set = [&f, keyval](intptr_t value) {
        return attrcache_set(f.kind(), &f.table(0), nullptr, keyval, value, ATTRCACHE_AS_POINTER,
                             nullptr);
      };
      expect(set(1) == ATTRCACHE_OK, "set");
      spawn([&set] { set(2); });
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
}

// ---- Free ----

// Nobody waits: a value that is held keeps its object from being freed.
TEST_P(Hold, BorrowAgainstFree) {
  int busy = 0;
  run({2, 1}, [&busy](Fixture& f) {
    attach(f);
    f.make_key(Fixture::kDelete);
    f.set(0, 1, 2);
    spawn([&f, &busy] {
      const int result = f.erase_all(0);
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY, "freed, or not yet");
      busy += result == ATTRCACHE_ERR_BUSY;
    });
    spawn([&f] { f.use(0, 0); });
  });
  EXPECT_GT(busy, 0);
}

// What was left of an object keeps it, too, and so does a set whose delete_fn still runs.
TEST(Free, BesideWhatIsLeftOfTheObject) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    attach(f);
    spawn([&f] {
      f.set(0, 0, 2);
      const int result = f.erase_all(0);
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY, "freed, or not yet");
      expect(result != ATTRCACHE_OK || f.values[1].deleted == 1, "nothing is left");
    });
    spawn([&f] { f.use(0, 0); });
  });
}

// A copy_fn, to which the deletion of what it copies was left, frees that object.
TEST(Free, OfWhatTheCopyFnCopies) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    static Atomic<int> replaced;
    replaced.store(0, kRelaxed);
    attach(f, Fixture::kCopy);
    f.keys[0].no_copies = true;
    f.keys[0].on_copy = [](Fixture& fixture, int value) {
      if (replaced.load(kAcquire) == 0 || value != 1) return;
      expect(fixture.erase_all(0) == ATTRCACHE_OK, "nobody else uses it");
      expect(fixture.values[1].deleted == 1, "what was left is deleted before the object is gone");
    };
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] {
      f.set(0, 0, 2);
      replaced.store(1, kRelease);
    });
  });
}

// ---- Keyvals without delete_fn ----

// A borrow is ordered before what follows a delete or set of the value, if it has seen that.
TEST(NoDeleteFn, BorrowAgainstSetAndDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    attach(f, Fixture::kNone);
    spawn([&f] { f.use(0, 0); });
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
  });
}

}  // namespace
}  // namespace attrcache::model
