// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Threads that hold values and wait for others who do: full readers, circles of waits, and values
// that are handed to those who have waited for longer.

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

// Where a replacing set begins again, who had awaited it may already hold what was attached in
// between, under another thread's claim, and not yet have said that it waits no more. The set waits
// for that holder, and that isn't a circle. The second thread is the borrower and the other
// claimer, by their steps: borrow, set and delete themselves would take too many preemptions to
// meet so.
TEST(Circle, IsNotSeenWhereASetBeginsAgain) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    static Atomic<int> stage;
    static const auto reach = [](int next) {
      stage.store(next, kRelease);
      Backoff backoff;
      while (stage.load(kAcquire) == next) backoff.relax();
    };
    stage.store(0, kRelaxed);
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int value) {
      if (value != 1) return;
      reach(1);
      fixture.set(0, 0, 2);
      reach(3);
    };
    f.set(0, 0, 1);
    spawn([&f] { expect(f.set(0, 0, 3) == ATTRCACHE_OK, "nobody waits for it"); });
    spawn([&f] {
      Readers& readers = Registry::of(f.kind()).readers();
      Pair& slot = f.slot(0);
      Backoff backoff;
      while (stage.load(kAcquire) != 1) backoff.relax();
      uint64_t m = slot.load_meta();
      Announcement& wait = *readers.take();
      readers.announce_wait(wait, slot, Says::kAwaitsToBorrow, m, 0);
      expect(slot::await(slot, m), "it is being replaced");
      reach(2);
      m = slot.load_meta();
      Announcement& hold = *readers.take();
      readers.announce(hold, slot, Says::kBorrows, m);
      slot::Claim claim(readers);
      expect(claim.take(slot, m, slot::Claim::Of::kDelete), "the value that was set within");
      stage.store(4, kRelease);
      readers.release(wait);
      expect(claim.restore(), "nobody passes who holds it");
      readers.withdraw(hold, slot);
      readers.release(hold);
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

// ---- Those who have waited for longer ----

// Who waits for the end of a set, which may fail, is passed by at most one more set.
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
    spawn([&f] {
      for (Backoff backoff; replacing.load(kAcquire) == 0;) backoff.relax();
      attrcache_borrowed borrowed = {};
      expect(f.borrow(0, 0, &borrowed), "there is a value all the time");
      expect(borrowed.value != &f.values[4], "two have passed");
      f.give_back(&borrowed);
    });
  });
}
TEST(Grant, PassedByOneSet) { passed_by_sets(0); }
TEST(Grant, PassedByOneSetThoughTheFirstFails) { passed_by_sets(1); }

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
TEST(Grant, BesideASetOverTheClaim) { beside_sets_that_follow_one_another(false); }
TEST(Grant, BesideADeleteOfTheClaimed) { beside_sets_that_follow_one_another(true); }

// A borrower has waited for a set, which has failed, and waits for the next one, which has claimed
// the value and is about to look for whom to hand it to. All this by their steps: it would take too
// many preemptions to meet so. Then a third thread comes.
class HandingOver {
 public:
  // Whether the borrower has come to look since the second set has begun.
  enum class Sees { kFirstSet, kBothSets };
  explicit HandingOver(Fixture& f, Sees sees = Sees::kBothSets)
      : target_{Registry::of(f.kind()), Table::of(&f.table(0)), nullptr},
        keyval_(id::of(f.keys[0].keyval)),
        readers_(target_.registry.readers()),
        slot_(f.slot(0)),
        wait_(*readers_.take()),
        set_(readers_) {
    claim();
    readers_.announce_wait(wait_, slot_, Says::kAwaitsToBorrow, slot_.load_meta(), 0);
    await();
    expect(set_.restore(), "the first set has failed");
    claim();
    if (sees == Sees::kBothSets) await();
  }

  // The rest of the set, which fails, too.
  void go_on_with_set() {
    FenceOnce fence(FenceOnce::Of::kValue);
    Holder holder;
    const SeenOff seen_off = see_off(target_, slot_, keyval_, set_, claimed_, fence, &holder);
    expect(seen_off == SeenOff::kYes, "nobody waits for it");
    if (!set_.restore()) drop_reference(target_.registry, keyval_);
    ended_.fetch_add(1, kRelease);
  }
  void third_has_ended() { ended_.fetch_add(1, kRelease); }

  // The rest of the borrow, by a thread that is slow to see what has become of the slot: the value
  // that it was handed, or null if the other two have ended without.
  void* go_on_with_borrow() {
    for (Backoff backoff;; backoff.relax()) {
      const bool ended = ended_.load(kAcquire) == 2;
      if (Announcement::holds(wait_.what.load(kAcquire)))
        return as_pointer(wait_.more.load(kRelaxed));
      if (ended) return nullptr;
    }
  }
  void give_back() { readers_.withdraw(wait_, slot_); }
  bool waits() const { return Announcement::awaits(wait_.what.load(kRelaxed)); }

  // To be called when the threads have ended.
  void finish() { readers_.release(wait_); }

 private:
  void claim() {
    claimed_ = slot_.load();
    uint64_t m = claimed_.meta;
    expect(set_.take(slot_, m, slot::Claim::Of::kReplacingSet), "nobody else is there");
  }
  void await() {
    uint64_t m = slot_.load_meta();
    expect(slot::await(slot_, m), "nobody else is there");
  }

  const Target target_;
  const id::Keyval keyval_;
  Readers& readers_;
  Pair& slot_;
  Announcement& wait_;
  slot::Claim set_;
  SlotContent claimed_ = {};
  Atomic<int> ended_{0};
};

// The third thread deletes or replaces the value beside the set. There is no delete_fn, so it may
// end the value as soon as its call has returned.
// If it is deleted, and the set finds only then that it has nothing to hand out, the borrower is
// told so.
void ended_beside_the_set_that_hands_it_out(bool deletes) {
  run_model({1, 1}, [deletes] {
    Fixture f;
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    borrow_and_give_back(f, 0);  // from now on it is known to be read
    HandingOver h(f);
    spawn([&] { h.go_on_with_set(); });
    spawn([&] {
      if (h.go_on_with_borrow() == nullptr) {
        expect(!deletes || !h.waits(), "nobody would find that it waits");
        return;
      }
      expect(f.values[1].body.read() == 1, "a borrowed value isn't ended");
      h.give_back();
    });
    spawn([&] {
      if (deletes) {
        f.erase(0, 0);
      } else {
        f.set(0, 0, 2);
      }
      f.values[1].body.write(0);
      h.third_has_ended();
    });
    join();
    h.finish();
    f.finish();
  });
}
TEST(Grant, OfWhatIsReplacedBesideTheSet) { ended_beside_the_set_that_hands_it_out(false); }
TEST(Grant, OfWhatIsDeletedBesideTheSet) { ended_beside_the_set_that_hands_it_out(true); }

// It replaces the value beside the set, and then its own. Where the set finds only then that it has
// nothing to hand out, the third thread hands out its own: else the borrower would be passed twice.
void handed_the_next_value(HandingOver::Sees sees) {
  run_model({1, 1}, [sees] {
    Fixture f;
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    borrow_and_give_back(f, 0);
    HandingOver h(f, sees);
    spawn([&] { h.go_on_with_set(); });
    spawn([&] {
      expect(h.go_on_with_borrow() != nullptr, "passed by two sets");
      h.give_back();
    });
    spawn([&] {
      f.set(0, 0, 2);
      f.set(0, 0, 3);
      h.third_has_ended();
    });
    join();
    h.finish();
    f.finish();
  });
}
TEST(Grant, OfTheNextValueWhereTheFirstWasReplaced) {
  handed_the_next_value(HandingOver::Sees::kBothSets);
}
TEST(Grant, OfTheNextValueToWhoHasSeenOnlyTheFirstSet) {
  handed_the_next_value(HandingOver::Sees::kFirstSet);
}

}  // namespace
}  // namespace attrcache::model
