// SPDX-License-Identifier: Apache-2.0
//
// The slot protocol: set, delete and get of one attribute by threads that race.

#include "table/meta.h"
#include "table/table.h"
#include "tests/model/explorer/atomic.h"
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

// A replaced value may have the number of the one before, and with it the same meta.
TEST(Slot, QuickDeleteAgainstSetsOfTheSameValue) {
  run_world({}, [](World& w) {
    w.make_key(World::kNone);
    w.set(0, 0, 1);
    spawn([&w] {
      w.set(0, 0, 2);
      w.set(0, 0, 1);
    });
    spawn([&w] { w.erase(0, 0); });
    spawn([&w] { w.get(0, 0); });
  });
}

TEST(Slot, QuickBorrowAgainstSet) {
  run_world({}, [](World& w) {
    w.make_key(World::kNone);
    w.set(0, 0, 1);
    spawn([&w] { w.set(0, 0, 2); });
    spawn([&w] {
      attrcache_borrowed borrowed;
      if (!w.borrow(0, 0, &borrowed)) return;
      expect(borrowed.value == &w.values[w.get(0, 0)], "what is borrowed stays attached");
      w.give_back(&borrowed);
    });
  });
}

// Which of two attributes was set later, when that is known.
TEST(Slot, QuickSetsKeepTheOrder) {
  run_model({}, [] {
    World w;
    w.make_key(World::kNone);
    w.make_key(World::kNone);
    w.set(0, 0, 1);
    w.set(0, 1, 2);  // the youngest
    static Atomic<int> ended[2];
    static bool later[2];
    for (int key = 0; key < 2; ++key) {
      ended[key].store(0, kRelaxed);
      spawn([&w, key] {
        later[key] = ended[1 - key].load(kAcquire) != 0;
        w.set(0, key, 3 + key);
        ended[key].store(1, kRelease);
      });
    }
    join();
    const auto number = [&w](int key) {
      const Pair* slot = Table::of(&w.table(0)).find(id::index(w.keys[key].keyval));
      return meta::sequence(slot->load_meta());
    };
    for (int key = 0; key < 2; ++key) {
      if (later[key]) expect(number(key) > number(1 - key), "what was set later is younger");
    }
    w.set(0, 0, 5);
    expect(number(0) > number(1), "what was set last is the youngest");
    w.finish();
  });
}

}  // namespace
}  // namespace attrcache::model
