// SPDX-License-Identifier: Apache-2.0
//
// Callbacks that fail, and callbacks that come back into the library, while others race.

#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

TEST(Callback, FailingDeleteAgainstDelete) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    w.values[1].failures = 1;
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Callback, FailingDeleteAgainstSet) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    w.values[1].failures = 1;
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Callback, AlwaysFailingDeleteAgainstAll) {
  run_world({2}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    w.values[1].failures = 3;
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] {
      w.get(0, 0);
      w.erase(0, 0);
      w.get(0, 0);
    });
  });
}

// A failed delete says that the value is still there, unless another call has taken it.
TEST(Callback, FailingDeleteKeepsTheValueVisible) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    w.values[1].failures = 1;
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] {
      expect(w.get(0, 0) == 1, "it never goes");
      expect(w.get(0, 0) == 1, "it never goes");
    });
  });
}

TEST(Callback, DeleteThatSetsAgain) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete).on_delete = [](World& world, int value) {
      if (value == 1) world.set(0, 0, 2);
    };
    w.set(0, 0, 1);
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Callback, ReplacingSetWhoseCallbackSets) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete).on_delete = [](World& world, int value) {
      if (value == 1) world.set(0, 0, 2);
    };
    w.set(0, 0, 1);
    spawn([&w] { w.set(0, 0, 3); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Callback, DeleteThatDeletesItself) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete).on_delete = [](World& world, int) { world.erase(0, 0); };
    w.set(0, 0, 1);
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] {
      w.get(0, 0);
      w.set(0, 0, 2);
    });
  });
}

// PETSc's pair: each delete_fn deletes the other's attribute. Two threads, neither may wait.
TEST(Callback, DeletesOfEachOther) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete).on_delete = [](World& world, int) { world.erase(0, 1); };
    w.make_key(World::kDelete).on_delete = [](World& world, int) { world.erase(0, 0); };
    w.set(0, 0, 1);
    w.set(0, 1, 2);
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] { w.erase(0, 1); });
  });
}

TEST(Callback, DeleteThatFreesItsKeyval) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete).on_delete = [](World& world, int) { world.free(0); };
    w.set(0, 0, 1);
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] { w.set(0, 0, 2); });
  });
}

TEST(Callback, DeleteAllAgainstDeletesThatEndBefore) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    w.set(0, 1, 2);
    w.set(1, 0, 3);
    spawn([&w] {
      w.erase(0, 0);
      w.erase(0, 1);
    });
    spawn([&w] { w.erase_all(1, ATTRCACHE_DRAIN); });
  });
}

}  // namespace
}  // namespace attrcache::model
