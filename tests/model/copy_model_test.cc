// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Copies and borrows against sets and deletes of the same value. This tests pins, and the wait of a
// claimer for them.

#include "platform/wait.h"
#include "table/claimed.h"
#include "table/hold.h"
#include "table/meta.h"
#include "tests/model/explorer/atomic.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

TEST(Copy, AgainstDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy);
    f.set(0, 0, 1);
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Copy, AgainstSet) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy);
    f.set(0, 0, 1);
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { f.set(0, 0, 2); });
  });
}

TEST(Copy, AgainstSetAndDelete) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    f.make_key(Fixture::kCopy);
    f.set(0, 0, 1);
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Copy, AgainstFailingDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy);
    f.set(0, 0, 1);
    f.values[1].failures = 1;
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { f.erase(0, 0); });
  });
}

// A copy_fn that deletes what it copies doesn't wait for itself; nor do two for each other.
TEST(Copy, ThatDeletesWhatItCopies) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy).on_copy = [](Fixture& fixture, int) { fixture.erase(0, 0); };
    f.set(0, 0, 1);
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Copy, ThatReplacesWhatItCopies) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy).on_copy = [](Fixture& fixture, int value) {
      if (value == 1) fixture.set(0, 0, 2);
    };
    f.set(0, 0, 1);
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { f.erase(0, 0); });
  });
}

// What a copy_fn tries to delete it holds no longer, also where delete_fn fails. So another thread,
// to which the value is known to be read, doesn't wait for the end of the copy_fn to delete it.
TEST(Copy, ThatFailsToDeleteWhatItCopies) {
  run_with_fixture({1, 1}, [](Fixture& f) {
    static Atomic<int> stage;
    static const auto reach = [](int next) {
      stage.store(next, kRelease);
      for (Backoff backoff; stage.load(kAcquire) == next;) backoff.relax();
    };
    stage.store(0, kRelaxed);
    f.make_key(Fixture::kCopy).on_copy = [](Fixture& fixture, int) {
      expect(fixture.erase(0, 0) == ATTRCACHE_ERR_CALLBACK, "delete_fn fails");
      reach(1);
    };
    f.set(0, 0, 1);
    f.values[1].failures = 1;
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] {
      for (Backoff backoff; stage.load(kAcquire) == 0;) backoff.relax();
      attrcache_borrowed borrowed = {};
      expect(f.borrow(0, 0, &borrowed), "it is still there");
      f.give_back(&borrowed);
      expect(f.erase(0, 0) == ATTRCACHE_OK, "nobody holds it");
      stage.store(2, kRelease);
    });
  });
}

// Two copy_fns of one thread, one within the other, read the same value. Another thread closes a
// circle with the inner one, and leaves it the deletion, which waits for the outer one, too. (The
// borrow is there so that the other thread finds the inner one first.)
TEST(Copy, WithinACopyOfTheSame) {
  run_with_fixture({1, 0}, [](Fixture& f) {
    static Atomic<int> copying;
    static attrcache_borrowed borrowed;
    static int depth;
    copying.store(0, kRelaxed);
    borrowed = {};
    depth = 0;
    f.make_key(Fixture::kCopy).on_copy = [](Fixture& of, int) {
      if (++depth == 1) {
        of.give_back(&borrowed);
        of.copy(0, 3);
        expect(of.values[1].body.read() == 1, "what the outer copy_fn copies isn't deleted");
        return;
      }
      copying.store(1, kRelease);
      for (Backoff backoff; !meta::deleting(of.slot(0).load_meta());) backoff.relax();
      expect(of.erase(1, 1) == ATTRCACHE_OK, "the delete within copy_fn 0");
    };
    f.make_key(Fixture::kCopy).on_copy = [](Fixture& of, int) {
      expect(of.erase(0, 0) == ATTRCACHE_OK, "the delete within copy_fn 1");
    };
    for (int key = 0; key < 2; ++key) {
      f.keys[key].no_copies = true;
      f.set(key, key, 1 + key);
    }
    spawn([&f] {
      expect(f.borrow(0, 0, &borrowed), "nobody else is there yet");
      f.copy(0, 3);
    });
    spawn([&f] {
      for (Backoff backoff; copying.load(kAcquire) == 0;) backoff.relax();
      f.copy(1, 2);
    });
  });
}

// A copy_fn gives up the object of the value that it copies, after another thread has left it the
// deletion.
void ends_the_object_of_what_it_is_left(void (*end)(Fixture&)) {
  run_model({1, 0}, [end] {
    static Atomic<int> copying;
    static void (*ends)(Fixture&);
    copying.store(0, kRelaxed);
    ends = end;
    Fixture f;
    f.make_key(Fixture::kCopy).on_copy = [](Fixture& of, int) {
      for (Backoff backoff; copying.load(kAcquire) == 0;) backoff.relax();
      expect(of.erase(1, 1) == ATTRCACHE_OK, "the delete within copy_fn 0");
      ends(of);
      expect(of.values[1].deleted == 1, "what was left is deleted before the object is gone");
    };
    f.make_key(Fixture::kCopy).on_copy = [](Fixture& of, int) {
      copying.store(1, kRelease);
      Pair& slot = *Table::of(&of.table(1)).find(id::index(id::of(of.keys[1].keyval)));
      for (Backoff backoff; !meta::deleting(slot.load_meta());) backoff.relax();
      expect(of.erase(0, 0) == ATTRCACHE_OK, "the delete within copy_fn 1");
    };
    for (int key = 0; key < 2; ++key) {
      f.keys[key].no_copies = true;
      f.set(key, key, 1 + key);
    }
    spawn([&f] { f.copy(0, 3); });
    spawn([&f] { f.copy(1, 2); });
    join();
    f.finish();
  });
}
TEST(Copy, ThatFreesTheObjectOfWhatItIsLeft) {
  ends_the_object_of_what_it_is_left([](Fixture& f) {
    int result;
    for (Backoff backoff;; backoff.relax()) {
      result = f.erase_all(0, ATTRCACHE_STOP_AT_FAILURE);
      if (result != ATTRCACHE_ERR_BUSY) break;
    }
    expect(result == ATTRCACHE_OK, "freed");
  });
}
TEST(Copy, ThatAbandonsTheObjectOfWhatItIsLeft) {
  ends_the_object_of_what_it_is_left([](Fixture& f) {
    expect(attrcache_table_abandon(f.kind(), &f.table(0)) == ATTRCACHE_OK, "abandoned");
  });
}

// A thread borrows what it copies, and keeps that for longer, beside a claimer that leaves it the
// deletion. This is by their steps: it would take too many preemptions to close a circle just then.
TEST(Copy, ThatBorrowsWhatItIsLeft) {
  run_model({2, 2}, [] {
    Fixture f;
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    const Target target{Registry::of(f.kind()), Table::of(&f.table(0)), nullptr};
    const id::Keyval keyval = id::of(f.keys[0].keyval);
    Readers& readers = target.registry.readers();
    Pair& slot = f.slot(0);
    Atomic<int> copying{0};
    spawn([&] {
      Hold copy;
      expect(hold_value(target, slot, keyval, Says::kCopies, 0, &copy) == ATTRCACHE_OK, "copied");
      copying.store(1, kRelease);
      attrcache_borrowed borrowed = {};
      const int result = attrcache_borrow(f.kind(), &f.table(0), f.keys[0].keyval, &borrowed);
      end_copy_hold(target, slot, keyval, *copy.cell);
      readers.release(*copy.cell);
      if (result == ATTRCACHE_OK) f.give_back(&borrowed);
    });
    spawn([&] {
      for (Backoff backoff; copying.load(kAcquire) == 0;) backoff.relax();
      const SlotContent value = slot.load();
      uint64_t m = value.meta;
      slot::Claim claim(readers);
      expect(claim.take(slot, m, slot::Claim::Of::kDelete), "nobody else claims it");
      readers.heavy_fence();
      Holder copier;
      if (find_holder(readers, target.table, slot, m, Says::kCopies, &copier) &&
          begin_to_leave(readers, target.table, copier, slot)) {
        claim.detach();
        leave(readers, copier, slot, value.value);
        f.erase(0, 0);  // which is there to be recorded
      } else {
        expect(claim.restore(), "nobody else deletes it");
      }
    });
    join();
    f.finish();
  });
}

// A delete_fn that duplicates its object: its own value is still attached, so it is copied, unless
// another thread's set or delete has ended that.
void copy_once(Fixture& f, int value) {
  if (value == 1 && f.values[1].failed == 0) f.copy(0, 1);
}
// If no other thread's delete has come, it finds its own value, or what another thread has set
// since.
void copy_something_once(Fixture& f, int value) {
  if (value != 1 || f.values[1].failed != 0) return;
  f.copy(0, 1);
  if (f.get(0, 0) != 0) expect(f.get(1, 0) != 0, "what is being deleted up the stack is copied");
}

TEST(Copy, WithinItsDeleteAgainstSet) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy).on_delete = copy_something_once;
    f.set(0, 0, 1);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.set(0, 0, 2); });
  });
}

TEST(Copy, WithinItsDeleteAgainstSetThenDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy).on_delete = copy_once;
    f.set(0, 0, 1);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] {
      f.set(0, 0, 2);
      f.erase(0, 0);
    });
  });
}

TEST(Copy, WithinItsDeleteAgainstDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy).on_delete = copy_once;
    f.set(0, 0, 1);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Copy, WithinItsFailingDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy).on_delete = copy_something_once;
    f.set(0, 0, 1);
    f.values[1].failures = 1;
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.set(0, 0, 2); });
  });
}

TEST(Copy, WithinTheSetThatReplacesIt) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy).on_delete = copy_once;
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
  });
}

// The keyval is freed while its last value is being copied, and deleted.
TEST(Copy, AgainstDeleteAndFreeKeyval) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kCopy);
    f.set(0, 0, 1);
    spawn([&f] { f.copy(0, 1); });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.free(0); });
  });
}

TEST(Borrow, AgainstDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (f.borrow(0, 0, &borrowed)) f.give_back(&borrowed);
    });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Borrow, TwoAgainstSet) {
  run_with_fixture({2, 0}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    for (int t = 0; t < 2; ++t) {
      spawn([&f] {
        attrcache_borrowed borrowed = {};
        if (f.borrow(0, 0, &borrowed)) f.give_back(&borrowed);
      });
    }
    spawn([&f] { f.set(0, 0, 2); });
  });
}

TEST(Borrow, OfWhatWasJustSet) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    spawn([&f] { f.set(0, 0, 1); });
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (f.borrow(0, 0, &borrowed)) f.give_back(&borrowed);
    });
  });
}

TEST(Borrow, OwnIsRefusedOthersWait) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (!f.borrow(0, 0, &borrowed)) return;
      expect(f.erase(0, 0) == ATTRCACHE_ERR_BORROWED, "the own borrow is refused, not waited for");
      f.give_back(&borrowed);
    });
    spawn([&f] { f.set(0, 0, 2); });
  });
}

// A value without delete_fn that C reads in place, under a borrow, against a set in one step.
TEST(Borrow, OfAQuickValueAgainstSetAndDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (f.borrow(0, 0, &borrowed)) f.give_back(&borrowed);
    });
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
  });
}

}  // namespace
}  // namespace attrcache::model
