// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The slot protocol: threads race to set, delete and get one attribute.

#include "table/meta.h"
#include "table/table.h"
#include "tests/model/explorer/atomic.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

TEST(Slot, SetAgainstSet) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    spawn([&f] { f.set(0, 0, 1); });
    spawn([&f] { f.set(0, 0, 2); });
  });
}

TEST(Slot, SetAgainstSetOfAnAttached) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.set(0, 0, 3); });
  });
}

TEST(Slot, SetAgainstDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Slot, DeleteAgainstDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Slot, GetAgainstAll) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] {
      f.get(0, 0);
      f.get(0, 0);
    });
  });
}

TEST(Slot, SetAgainstTwoDeletes) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Slot, TwoSetsAgainstDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.set(0, 0, 3); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Slot, SetsInTurnAgainstDeletesInTurn) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    spawn([&f] {
      f.set(0, 0, 1);
      f.set(0, 0, 2);
    });
    spawn([&f] {
      f.erase(0, 0);
      f.get(0, 0);
      f.erase(0, 0);
    });
  });
}

TEST(Slot, GetSeesTheBodyThatWasSet) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    spawn([&f] { f.set(0, 0, 1); });
    spawn([&f] {
      f.get_body(0, 0);
      f.get_body(0, 0);
    });
  });
}

// Keyvals without delete_fn: the paths in one step.
TEST(Slot, NoDeleteFnSetAgainstSetAndDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] {
      f.set(0, 0, 3);
      f.get(0, 0);
    });
  });
}

TEST(Slot, NoDeleteFnDeleteAgainstDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Slot, NoDeleteFnGetSeesTheBodyThatReplacedAnother) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.get_body(0, 0); });
  });
}

// A replaced value may have the number of the one before, and with it the same meta.
TEST(Slot, NoDeleteFnDeleteAgainstSetsOfTheSameValue) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    spawn([&f] {
      f.set(0, 0, 2);
      f.set(0, 0, 1);
    });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.get(0, 0); });
  });
}

// Which of two attributes was set later, when that is known.
TEST(Slot, NoDeleteFnSetsKeepTheOrder) {
  run_model({2, 1}, [] {
    Fixture f;
    f.make_key(Fixture::kNone);
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    f.set(0, 1, 2);  // the youngest
    static Atomic<int> ended[2];
    static bool later[2];
    for (int key = 0; key < 2; ++key) {
      ended[key].store(0, kRelaxed);
      spawn([&f, key] {
        later[key] = ended[1 - key].load(kAcquire) != 0;
        f.set(0, key, 3 + key);
        ended[key].store(1, kRelease);
      });
    }
    join();
    const auto number = [&f](int key) {
      const Pair* slot = Table::of(&f.table(0)).find(id::index(id::of(f.keys[key].keyval)));
      return meta::sequence(slot->load_meta());
    };
    for (int key = 0; key < 2; ++key) {
      if (later[key]) expect(number(key) > number(1 - key), "what was set later is younger");
    }
    f.set(0, 0, 5);
    expect(number(0) > number(1), "what was set last is the youngest");
    f.finish();
  });
}

}  // namespace
}  // namespace attrcache::model
