// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The slot protocol: threads race to set, delete and get one attribute.

#include "table/meta.h"
#include "table/table.h"
#include "tests/model/explorer/atomic.h"
#include "tests/model/race.h"

namespace attrcache::model {
namespace {

TEST(Slot, SetAgainstSet) { race({}, keyval(), set(1), set(2)); }
TEST(Slot, SetAgainstSetOfAnAttached) { race({}, attached(), set(2), set(3)); }
TEST(Slot, SetAgainstDelete) { race({}, attached(), set(2), erase); }
TEST(Slot, DeleteAgainstDelete) { race({}, attached(), erase, erase); }
TEST(Slot, GetAgainstSetAndDelete) { race({}, attached(), set(2), erase, in_turn(get, get)); }
TEST(Slot, SetAgainstTwoDeletes) { race({}, attached(), set(2), erase, erase); }
TEST(Slot, TwoSetsAgainstDelete) { race({}, attached(), set(2), set(3), erase); }
TEST(Slot, SetsInTurnAgainstDeletesInTurn) {
  race({}, keyval(), in_turn(set(1), set(2)), in_turn(erase, get, erase));
}
TEST(Slot, GetSeesTheBodyThatWasSet) { race({}, keyval(), set(1), in_turn(get_body, get_body)); }

// Keyvals without delete_fn: the paths in one step.
constexpr auto kNone = Fixture::kNone;
TEST(NoDeleteFn, SetAgainstSetAndDelete) {
  race({}, attached(kNone), set(2), erase, in_turn(set(3), get));
}
TEST(NoDeleteFn, DeleteAgainstDelete) { race({}, attached(kNone), erase, erase); }
TEST(NoDeleteFn, GetSeesTheBodyThatReplacedAnother) { race({}, attached(kNone), set(2), get_body); }
// A set may keep the number of the value before it, and with it the whole meta.
TEST(NoDeleteFn, DeleteAgainstSetsOfTheSameValue) {
  race({}, attached(kNone), in_turn(set(2), set(1)), erase, get);
}
// A borrow happens before what follows a delete or set of the value that has seen the borrow.
TEST(NoDeleteFn, BorrowAgainstSetAndDelete) { race({}, attached(kNone), use, set(2), erase); }

// Which of two attributes was set later, if one set happens before the other.
TEST(NoDeleteFn, SetsKeepTheOrder) {
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
      const Pair* slot = Table::of(&f.table(0)).at_offset(id::offset(id::of(f.keys[key].keyval)));
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
