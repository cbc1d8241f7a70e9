// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Callbacks that fail, and callbacks that call the library again, while other threads race.

#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

TEST(Callback, FailingDeleteAgainstDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.values[1].failures = 1;
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Callback, FailingDeleteAgainstSet) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.values[1].failures = 1;
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Callback, AlwaysFailingDeleteAgainstAll) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.values[1].failures = 3;
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] {
      f.get(0, 0);
      f.erase(0, 0);
      f.get(0, 0);
    });
  });
}

// A failed delete says that the value is still there, unless another call has taken it.
TEST(Callback, FailingDeleteKeepsTheValueVisible) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.values[1].failures = 1;
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] {
      expect(f.get(0, 0) == 1, "it never goes");
      expect(f.get(0, 0) == 1, "it never goes");
    });
  });
}

TEST(Callback, DeleteThatSetsAgain) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int value) {
      if (value == 1) fixture.set(0, 0, 2);
    };
    f.set(0, 0, 1);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Callback, ReplacingSetWhoseCallbackSets) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int value) {
      if (value == 1) fixture.set(0, 0, 2);
    };
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 3); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Callback, DeleteThatDeletesItself) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int) { fixture.erase(0, 0); };
    f.set(0, 0, 1);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] {
      f.get(0, 0);
      f.set(0, 0, 2);
    });
  });
}

// PETSc's pair: each delete_fn deletes the other's attribute. Two threads, neither may wait.
TEST(Callback, DeletesOfEachOther) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int) { fixture.erase(0, 1); };
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int) { fixture.erase(0, 0); };
    f.set(0, 0, 1);
    f.set(0, 1, 2);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.erase(0, 1); });
  });
}

TEST(Callback, DeleteThatFreesItsKeyval) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete).on_delete = [](Fixture& fixture, int) { fixture.free(0); };
    f.set(0, 0, 1);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.set(0, 0, 2); });
  });
}

TEST(Callback, DeleteAllAgainstDeletesThatEndBefore) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.set(0, 1, 2);
    f.set(1, 0, 3);
    spawn([&f] {
      f.erase(0, 0);
      f.erase(0, 1);
    });
    spawn([&f] { f.erase_all(1, ATTRCACHE_DRAIN); });
  });
}

}  // namespace
}  // namespace attrcache::model
