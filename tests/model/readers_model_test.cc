// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Threads that hold values and wait for others who do: full readers, circles of waits, and values
// that are handed to those who have waited for longer.

#include <initializer_list>

#include "platform/wait.h"
#include "table/attribute.h"
#include "table/claimed.h"
#include "table/meta.h"
#include "tests/model/explorer/atomic.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// Borrows, and uses what it has got, if there is something.
void borrow_and_give_back(Fixture& f, int key) {
  attrcache_borrowed borrowed = {};
  if (f.borrow(0, key, &borrowed)) f.give_back(&borrowed);
}

// ---- Full readers ----

TEST(FullReaders, BorrowAgainstDelete) {
  run_with_fixture(
      {2, 1},
      [](Fixture& f) {
        f.make_key(Fixture::kDelete);
        f.set(0, 0, 1);
        borrow_and_give_back(f, 0);  // from now on the value is known to be read
        spawn([&f] { f.erase(0, 0); });
        spawn([&f] { borrow_and_give_back(f, 0); });
      },
      1, ATTRCACHE_FULL_FENCES);
}

TEST(FullReaders, TwoBorrowsAgainstSet) {
  run_with_fixture(
      {1, 1},
      [](Fixture& f) {
        f.make_key(Fixture::kDelete);
        f.set(0, 0, 1);
        spawn([&f] { f.set(0, 0, 2); });
        for (int t = 0; t < 2; ++t) spawn([&f] { borrow_and_give_back(f, 0); });
      },
      1, ATTRCACHE_FULL_FENCES);
}

TEST(FullReaders, CopyAgainstDelete) {
  run_with_fixture(
      {2, 1},
      [](Fixture& f) {
        f.make_key(Fixture::kCopy);
        f.set(0, 0, 1);
        borrow_and_give_back(f, 0);
        spawn([&f] { f.erase(0, 0); });
        spawn([&f] { f.copy(0, 1); });
      },
      1, ATTRCACHE_FULL_FENCES);
}

// ---- Circles ----

// Borrows one attribute, and meanwhile sets or deletes the other one, for whose borrower it may
// wait.
void change_while_borrowing(Fixture& f, int held, int changed, bool deletes, int* deadlocks) {
  attrcache_borrowed borrowed = {};
  const bool holds = f.borrow(0, held, &borrowed);
  const int result = deletes ? f.erase(0, changed) : f.set(0, changed, 3 + changed);
  expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_DEADLOCK, "done, or nothing changed");
  *deadlocks += result == ATTRCACHE_ERR_DEADLOCK;
  if (holds) f.give_back(&borrowed);
}

void two_who_borrow_and_change(bool deletes) {
  run_with_fixture({2, 0}, [deletes](Fixture& f) {
    static int deadlocks[2];
    deadlocks[0] = deadlocks[1] = 0;
    for (int key = 0; key < 2; ++key) {
      f.make_key(Fixture::kDelete);
      f.set(0, key, 1 + key);
      borrow_and_give_back(f, key);
    }
    for (int t = 0; t < 2; ++t) {
      spawn([&f, t, deletes] { change_while_borrowing(f, t, 1 - t, deletes, &deadlocks[t]); });
    }
  });
}
TEST(Circle, OfTwoSetsOfWhatTheOtherHasBorrowed) { two_who_borrow_and_change(false); }
TEST(Circle, OfTwoDeletesOfWhatTheOtherHasBorrowed) { two_who_borrow_and_change(true); }

// Each dups an object, and its copy_fn sets the attribute that the other one copies. Neither fails:
// who closes the circle leaves the deletion to the one who copies.
TEST(Circle, OfTwoCopyFnsThatSetWhatTheOtherCopies) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    for (int key = 0; key < 2; ++key) {
      f.make_key(Fixture::kCopy);
      f.set(key, key, 1 + key);
    }
    f.keys[0].on_copy = [](Fixture& fixture, int value) {
      if (value == 1) expect(fixture.set(1, 1, 3) == ATTRCACHE_OK, "the set within copy_fn 0");
    };
    f.keys[1].on_copy = [](Fixture& fixture, int value) {
      if (value == 2) expect(fixture.set(0, 0, 4) == ATTRCACHE_OK, "the set within copy_fn 1");
    };
    for (int t = 0; t < 2; ++t) spawn([&f, t] { f.copy(t, 2 + t); });
  });
}

// A borrower waits for a replacing set whose delete_fn waits for what the borrower holds.
TEST(Circle, OfABorrowAndTheSetThatItWaitsFor) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int value) {
      if (value != 1) return;
      const int result = fixture.erase(0, 1);
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_DEADLOCK, "the delete within");
    };
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.set(0, 1, 2);
    spawn([&f] { f.set(0, 0, 3); });
    spawn([&f] {
      attrcache_borrowed held = {};
      const bool holds = f.borrow(0, 1, &held);
      borrow_and_give_back(f, 0);
      if (holds) f.give_back(&held);
    });
  });
}

// The same with the second of two sets, the first of which ends just when the borrower comes to
// wait for it.
TEST(Circle, OfABorrowAndTheSetAfterTheOneThatItFound) {
  run_with_fixture({3, 0}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int value) {
      if (value != 2) return;
      const int result = fixture.erase(0, 1);
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_DEADLOCK, "the delete within");
    };
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.set(0, 1, 4);
    spawn([&f] {
      f.set(0, 0, 2);
      f.set(0, 0, 3);
    });
    spawn([&f] {
      attrcache_borrowed held = {};
      const bool holds = f.borrow(0, 1, &held);
      borrow_and_give_back(f, 0);
      if (holds) f.give_back(&held);
    });
  });
}

// ---- Waking ----

// A free fences once, before it waits for the holder of its first value. Whoever holds the next
// value must still see, when it lets go, that somebody waits.
TEST(Free, WakesUpWhereverItWaits) {
  run_with_fixture({1, 2}, [](Fixture& f) {
    static Atomic<int> held;
    held.store(0, kRelaxed);
    for (int key = 0; key < 2; ++key) {
      f.make_key(Fixture::kDelete);
      f.set(0, key, 1 + key);
      borrow_and_give_back(f, key);
    }
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      expect(f.borrow(0, 0, &borrowed), "the value that is deleted last");
      held.store(1, kRelease);
      f.give_back(&borrowed);
    });
    spawn([&f] {
      for (Backoff backoff; held.load(kAcquire) == 0;) backoff.relax();
      expect(f.erase_all(0, ATTRCACHE_STOP_AT_FAILURE) == ATTRCACHE_OK, "freed");
    });
  });
}

// ---- What those who wait are told ----

// Who waits for a set gets the value that is there when that ends, though two more sets follow
// before it has come to look.
void passed_by_sets(int failures) {
  run_with_fixture({1, 1}, [failures](Fixture& f) {
    static Atomic<int> replacing;
    replacing.store(0, kRelaxed);
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& of, int) {
      if (replacing.exchange(1, kAcqRel) != 0) return;
      for (Backoff backoff; !meta::awaited(of.slot(0).load_meta());) backoff.relax();
    };
    f.set(0, 0, 1);
    f.values[1].failures = failures;
    spawn([&f] {
      for (int value = 2; value <= 4; ++value) f.set(0, 0, value);
    });
    spawn([&f, failures] {
      for (Backoff backoff; replacing.load(kAcquire) == 0;) backoff.relax();
      attrcache_borrowed borrowed = {};
      expect(f.borrow(0, 0, &borrowed), "there is a value all the time");
      expect(borrowed.value == &f.values[failures == 0 ? 2 : 1], "no other set passes it");
      f.give_back(&borrowed);
    });
  });
}
TEST(Answer, IsTheValueThatWasSet) { passed_by_sets(0); }
TEST(Answer, IsTheOldValueIfTheSetFails) { passed_by_sets(1); }

// The first set is followed by another one, before the borrower has come to look, and a third
// thread deletes or replaces the value beside that.
void beside_sets_that_follow_one_another(bool deletes) {
  run_with_fixture({2, 0}, [deletes](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] {
      f.set(0, 0, 2);
      f.set(0, 0, 3);
    });
    spawn([&f] { borrow_and_give_back(f, 0); });
    spawn([&f, deletes] {
      if (deletes) {
        f.erase(0, 0);
      } else {
        f.set(0, 0, 4);
      }
    });
  });
}
TEST(Answer, BesideASetOverTheClaim) { beside_sets_that_follow_one_another(false); }
TEST(Answer, BesideADeleteOfTheClaimed) { beside_sets_that_follow_one_another(true); }

// A set that has claimed a value, and one who waits for its end, by their steps: it would take too
// many preemptions to meet so. The keyval has no delete_fn, so a value that isn't held may be ended
// by whoever has replaced it.
class AwaitedSet {
 public:
  explicit AwaitedSet(Fixture& f)
      : target_{Registry::of(f.kind()), Table::of(&f.table(0)), nullptr},
        readers_(target_.registry.readers()),
        keyval_(id::of(f.keys[0].keyval)),
        slot_(f.slot(0)),
        claimed_(slot_.load()),
        wait_(*readers_.take()),
        set_(readers_) {
    uint64_t m = claimed_.meta;
    expect(set_.take(slot_, m, slot::Claim::Of::kReplacingSet), "nobody else is there");
    readers_.announce_wait(wait_, slot_, Says::kAwaitsToBorrow, slot_.load_meta(), 0);
    expect(slot::await(slot_, slot_.load_meta()), "it is being replaced");
  }
  ~AwaitedSet() { readers_.release(wait_); }

  // The rest of the set, which fails.
  void fail() {
    if (meta::read(claimed_.meta)) {
      FenceOnce fence(FenceOnce::Of::kValue);
      Holder holder;
      const SeenOff seen_off = see_off(target_, slot_, keyval_, set_, claimed_, fence, &holder);
      expect(seen_off == SeenOff::kYes, "nobody waits for it");
    }
    if (!set_.restore()) target_.registry.drop(keyval_);
  }

  // The value that who waits was handed; null if it was told that there is none.
  void* answer() {
    const auto no_answer = [&](uintptr_t what) {
      return Announcement::awaits(what) || Announcement::is_promised(what);
    };
    for (Backoff backoff; no_answer(wait_.what.load(kAcquire));) backoff.relax();
    const bool holds = Announcement::holds(wait_.what.load(kRelaxed));
    return holds ? as_pointer(wait_.more.load(kRelaxed)) : nullptr;
  }
  void give_back() { readers_.withdraw(wait_, slot_); }

  // False: there is an answer, or will be.
  bool give_up() {
    uintptr_t what = wait_.what.load(kAcquire);
    return Announcement::awaits(what) &&
           wait_.what.compare_exchange_strong(what, uintptr_t(Says::kTaken), kAcqRel, kAcquire);
  }
  bool has_given_up() const { return wait_.what.load(kRelaxed) == uintptr_t(Says::kTaken); }

 private:
  const Target target_;
  Readers& readers_;
  const id::Keyval keyval_;
  Pair& slot_;
  const SlotContent claimed_;
  Announcement& wait_;
  slot::Claim set_;
};

// Runs threads beside such a set. `read`: whether its value is known to be read.
template <typename Threads>
void run_with_awaited_set(Bound bound, Threads threads, bool read, unsigned flags = 0) {
  run_model(bound, [&] {
    Fixture f(1, flags);
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    if (read) borrow_and_give_back(f, 0);
    {
      AwaitedSet awaited(f);
      threads(f, awaited);
    }
    f.finish();
  });
}

// Beside the set that fails, another thread changes the attribute, and ends those values that it
// has replaced or deleted. Who waits gets one that isn't ended, or none if it was deleted.
void changed_beside_an_awaited_set(void (*change)(Fixture&), std::initializer_list<int> ended,
                                   std::initializer_list<int> handed, bool read = false) {
  run_with_awaited_set(
      {1, 1},
      [=](Fixture& f, AwaitedSet& awaited) {
        spawn([&] { awaited.fail(); });
        spawn([&] {
          const void* const answer = awaited.answer();
          expect(!meta::closed(f.slot(0).load_meta()), "it is told when it is so");
          bool expected = false;
          for (const int value : handed) {
            const void* const may_be = value != 0 ? &f.values[value] : nullptr;
            expected = expected || answer == may_be;
          }
          expect(expected, "what the end of the set has attached");
          if (answer == nullptr) return;
          for (Fixture::Value& value : f.values) {
            if (answer == &value) expect(value.body.read() != 0, "a borrowed value isn't ended");
          }
          awaited.give_back();
        });
        spawn([&] {
          change(f);
          for (const int value : ended) f.values[value].body.write(0);
        });
        join();
      },
      read);
}
TEST(Answer, WhereTheValueIsDeletedBesideTheSet) {
  changed_beside_an_awaited_set([](Fixture& f) { f.erase(0, 0); }, {1}, {0, 1});
}
TEST(Answer, WhereItIsReplacedBesideTheSet) {
  changed_beside_an_awaited_set([](Fixture& f) { f.set(0, 0, 2); }, {1}, {1, 2});
}
TEST(Answer, WhereItIsReplacedAndThatIsDeleted) {
  changed_beside_an_awaited_set(
      [](Fixture& f) {
        f.set(0, 0, 2);
        f.erase(0, 0);
      },
      {1, 2}, {1, 2});
}
TEST(Answer, IsNotForWhoHasGivenUp) {
  run_with_awaited_set(
      {2, 1},
      [](Fixture& f, AwaitedSet& awaited) {
        spawn([&] { awaited.fail(); });
        spawn([&] {
          if (awaited.give_up()) return;
          expect(awaited.answer() == &f.values[1], "the answer that came before");
          awaited.give_back();
        });
        join();
        expect(awaited.has_given_up(), "it waits no more");
      },
      false);
}

// A set has failed, and the value was claimed once more, while somebody has borrowed it. Who has
// looked for holders while the first claim lasted, and has found none, looks again.
void claimed_once_more(bool deletes) {
  run_with_awaited_set(
      {2, 0},
      [deletes](Fixture& f, AwaitedSet& first) {
        expect(first.give_up(), "nobody has answered");
        spawn([&] {
          first.fail();
          attrcache_borrowed borrowed = {};
          if (!f.borrow(0, 0, &borrowed)) return;
          Registry& registry = Registry::of(f.kind());
          slot::Claim second(registry.readers());
          uint64_t m = f.slot(0).load_meta();
          const bool claimed =
              !meta::deleting(m) && second.take(f.slot(0), m, slot::Claim::Of::kReplacingSet);
          for (Fixture::Value& value : f.values) {
            if (borrowed.value == &value) expect(value.body.read() != 0, "it is borrowed");
          }
          f.give_back(&borrowed);
          if (claimed && !second.restore()) registry.drop(id::of(f.keys[0].keyval));
        });
        spawn([&] {
          if (deletes) {
            f.erase(0, 0);
          } else {
            f.set(0, 0, 2);
          }
          f.values[1].body.write(0);
        });
        join();
      },
      true);
}
TEST(Claim, OnceMoreBesideASetThatHasLookedForHolders) { claimed_once_more(false); }
TEST(Claim, OnceMoreBesideADeleteThatHasLookedForHolders) { claimed_once_more(true); }

// Two deletes find the value claimed, and wait for those who hold it. Only one then deletes it.
TEST(Answer, WhereTwoDeleteBesideTheSet) {
  run_with_awaited_set(
      {1, 1},
      [](Fixture& f, AwaitedSet& awaited) {
        int results[2];
        for (int t = 0; t < 2; ++t) spawn([&f, &results, t] { results[t] = f.erase(0, 0); });
        join();
        expect((results[0] == ATTRCACHE_OK) != (results[1] == ATTRCACHE_OK), "one of the two");
        awaited.fail();
        expect(awaited.answer() == nullptr, "there is nothing");
      },
      true, ATTRCACHE_TELL);
}

// One who has waited under a keyval that is gone, and hasn't come to see that.
TEST(Answer, IsNotForWhoWaitsUnderAnotherKeyval) {
  run_with_awaited_set(
      {1, 1},
      [](Fixture& f, AwaitedSet& awaited) {
        Readers& readers = Registry::of(f.kind()).readers();
        Announcement& other = *readers.take();
        const uint64_t m = f.slot(0).load_meta() ^ uint64_t { 1 } << 53;  // of another generation
        readers.announce_wait(other, f.slot(0), Says::kAwaitsToBorrow, m, 0);
        awaited.fail();
        expect(awaited.answer() == &f.values[1], "who waits under that keyval");
        awaited.give_back();
        expect(Announcement::awaits(other.what.load(kRelaxed)), "it waits for something else");
        expect(other.meta.load(kRelaxed) == m, "for what it did");
        readers.release(other);
      },
      false);
}
TEST(Answer, WhereItIsReplacedTwice) {
  changed_beside_an_awaited_set(
      [](Fixture& f) {
        f.set(0, 0, 2);
        f.set(0, 0, 3);
      },
      {1, 2}, {1, 2});
}
TEST(Answer, WhereItIsReplacedWhileTheSetSeesOff) {
  changed_beside_an_awaited_set([](Fixture& f) { f.set(0, 0, 2); }, {1}, {1, 2}, true);
}
TEST(Answer, WhereItIsDeletedAndSetAgain) {
  changed_beside_an_awaited_set(
      [](Fixture& f) {
        f.erase(0, 0);
        f.set(0, 0, 2);
        f.set(0, 0, 3);
      },
      {1, 2}, {0, 1, 2});
}

}  // namespace
}  // namespace attrcache::model
