// SPDX-License-Identifier: Apache-2.0
//
// The slot protocol: set, delete and get of one attribute by threads that race.

#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

TEST(Slot, SetAgainstSet) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    spawn([&w] { w.set(0, 0, 1); });
    spawn([&w] { w.set(0, 0, 2); });
  });
}

TEST(Slot, SetAgainstSetOfAnAttached) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] { w.set(0, 0, 3); });
  });
}

TEST(Slot, SetAgainstDelete) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Slot, DeleteAgainstDelete) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Slot, GetAgainstAll) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] {
      w.get(0, 0);
      w.get(0, 0);
    });
  });
}

TEST(Slot, SetAgainstTwoDeletes) {
  run_world({3}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Slot, TwoSetsAgainstDelete) {
  run_world({2}, [](World& w) {
    w.make_key(World::kDelete);
    w.set(0, 0, 1);
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] { w.set(0, 0, 3); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Slot, SetsInTurnAgainstDeletesInTurn) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    spawn([&w] {
      w.set(0, 0, 1);
      w.set(0, 0, 2);
    });
    spawn([&w] {
      w.erase(0, 0);
      w.get(0, 0);
      w.erase(0, 0);
    });
  });
}

TEST(Slot, GetSeesTheBodyThatWasSet) {
  run_world({}, [](World& w) {
    w.make_key(World::kDelete);
    spawn([&w] { w.set(0, 0, 1); });
    spawn([&w] {
      w.get_body(0, 0);
      w.get_body(0, 0);
    });
  });
}

// Keyvals without delete_fn: the paths in one step.
TEST(Slot, QuickSetAgainstSetAndDelete) {
  run_world({}, [](World& w) {
    w.make_key(World::kNone);
    w.set(0, 0, 1);
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] {
      w.set(0, 0, 3);
      w.get(0, 0);
    });
  });
}

TEST(Slot, QuickDeleteAgainstDelete) {
  run_world({}, [](World& w) {
    w.make_key(World::kNone);
    w.set(0, 0, 1);
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] { w.erase(0, 0); });
  });
}

TEST(Slot, QuickGetSeesTheBodyThatReplacedAnother) {
  run_world({}, [](World& w) {
    w.make_key(World::kNone);
    w.set(0, 0, 1);
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] { w.get_body(0, 0); });
  });
}

}  // namespace
}  // namespace attrcache::model
