// SPDX-License-Identifier: Apache-2.0
//
// Copying and borrowing against set and delete of the very value: pins, and the one wait that the
// library has.

#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

TEST(Copy, AgainstDelete) {
  run_world({}, [](World& w) {
    w.make_key(World::kCopy);
    w.set(0, 0, 1);
    spawn([&w] { w.copy(0, 1); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Copy, AgainstSet) {
  run_world({}, [](World& w) {
    w.make_key(World::kCopy);
    w.set(0, 0, 1);
    spawn([&w] { w.copy(0, 1); });
    spawn([&w] { w.set(0, 0, 2); });
  });
}

TEST(Copy, AgainstSetAndDelete) {
  run_world({2, 2}, [](World& w) {
    w.make_key(World::kCopy);
    w.set(0, 0, 1);
    spawn([&w] { w.copy(0, 1); });
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Copy, AgainstFailingDelete) {
  run_world({}, [](World& w) {
    w.make_key(World::kCopy);
    w.set(0, 0, 1);
    w.values[1].failures = 1;
    spawn([&w] { w.copy(0, 1); });
    spawn([&w] { w.erase(0, 0); });
  });
}

// A copy_fn that deletes what it copies doesn't wait for itself; nor do two for each other.
TEST(Copy, ThatDeletesWhatItCopies) {
  run_world({}, [](World& w) {
    w.make_key(World::kCopy).on_copy = [](World& world, int) { world.erase(0, 0); };
    w.set(0, 0, 1);
    spawn([&w] { w.copy(0, 1); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Copy, ThatReplacesWhatItCopies) {
  run_world({}, [](World& w) {
    w.make_key(World::kCopy).on_copy = [](World& world, int value) {
      if (value == 1) world.set(0, 0, 2);
    };
    w.set(0, 0, 1);
    spawn([&w] { w.copy(0, 1); });
    spawn([&w] { w.erase(0, 0); });
  });
}

// The keyval is freed while its last value is being copied, and deleted.
TEST(Copy, AgainstDeleteAndFreeKeyval) {
  run_world({2}, [](World& w) {
    w.make_key(World::kCopy);
    w.set(0, 0, 1);
    spawn([&w] { w.copy(0, 1); });
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] { w.free(0); });
  });
}

TEST(Borrow, AgainstDelete) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    spawn([&w] {
      attrcache_borrowed borrowed;
      if (w.borrow(0, 0, &borrowed)) w.give_back(&borrowed);
    });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Borrow, TwoAgainstSet) {
  run_world({3}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    for (int t = 0; t < 2; ++t) {
      spawn([&w] {
        attrcache_borrowed borrowed;
        if (w.borrow(0, 0, &borrowed)) w.give_back(&borrowed);
      });
    }
    spawn([&w] { w.set(0, 0, 2); });
  });
}

TEST(Borrow, OfWhatWasJustSet) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    spawn([&w] { w.set(0, 0, 1); });
    spawn([&w] {
      attrcache_borrowed borrowed;
      if (w.borrow(0, 0, &borrowed)) w.give_back(&borrowed);
    });
  });
}

TEST(Borrow, OwnIsRefusedOthersWait) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    spawn([&w] {
      attrcache_borrowed borrowed;
      if (!w.borrow(0, 0, &borrowed)) return;
      expect(w.erase(0, 0) == ATTRCACHE_ERR_BORROWED, "the own borrow is refused, not waited for");
      w.give_back(&borrowed);
    });
    spawn([&w] { w.set(0, 0, 2); });
  });
}

// A value without delete_fn that C reads in place, under a borrow, against a set in one step.
TEST(Borrow, OfAQuickValueAgainstSetAndDelete) {
  run_world({3}, [](World& w) {
    w.make_key(World::kNone);
    w.set(0, 0, 1);
    spawn([&w] {
      attrcache_borrowed borrowed;
      if (w.borrow(0, 0, &borrowed)) w.give_back(&borrowed);
    });
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] { w.erase(0, 0); });
  });
}

}  // namespace
}  // namespace attrcache::model
