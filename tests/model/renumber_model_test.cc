// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Renumbering beside all other operations: a set takes the clock past a multiple of 2^32 while
// other threads hold, delete, replace and copy the attribute that is old enough to be renumbered.

#include "table/meta.h"
#include "table/table.h"
#include "tests/model/objects.h"
#include "tests/model/race.h"

namespace attrcache::model {
namespace {

constexpr auto make_old = [](Table& table) {
  table.clock.store((uint64_t{3} << 32) - 1, kRelaxed);  // the next number is a multiple of 2^32
};
// Attribute 0 is old.
constexpr auto attached_long_ago = [](Fixture& f) {
  f.make_key(Fixture::kCopy);
  f.make_key(Fixture::kDelete);
  f.set(0, 0, 1);
  make_old(Table::of(&f.table(0)));
};
constexpr auto set_another = [](Fixture& f) { f.set(0, 1, 2); };

TEST(Renumber, AgainstDelete) { race({}, attached_long_ago, set_another, erase); }
TEST(Renumber, AgainstSetThatFails) {
  race({}, in_turn(attached_long_ago, fails()), set_another, set(3));
}
TEST(Renumber, AgainstCopy) {
  const auto copy_it = [](Fixture& f) {
    expect(f.copy(0, 1) == ATTRCACHE_OK, "copied");
    expect(f.get(1, 0) != 0, "the old attribute is copied");
  };
  race({}, attached_long_ago, set_another, copy_it);
}

// A dup copies two old attributes in their order, though it sees one before and one after the
// renumbering.
void copy_is_in_order(int first, int second) {
  run_model({2, 1}, [=] {
    Objects o;
    o.keys_up_to(3, Copy::kDup, Delete::kNoDeleteFn);
    o.set(first, 1);
    o.set(second, 2);
    make_old(Table::of(&o.tables[0]));
    spawn([&o] { o.set(0, 3); });
    spawn([&o, first, second] {
      expect(o.copy() == ATTRCACHE_OK, "copied");
      const Table& copy = Table::of(&o.tables[1]);
      const uint64_t now = copy.clock.load(kRelaxed);
      expect(meta::age(copy.inline_slots[first].load_meta(), now) >
                 meta::age(copy.inline_slots[second].load_meta(), now),
             "the one that was set first is the older one");
    });
    join();
    o.end();
  });
}
TEST(Renumber, CopyIsInOrder) { copy_is_in_order(1, 2); }
TEST(Renumber, CopyIsInOrderThoughIndicesAreNot) { copy_is_in_order(2, 1); }

// Runs `beside` beside a renumbering, and afterwards check(age of the old one, of the other one).
template <typename Beside, typename Check>
void ages(Beside beside, Check check) {
  run_model({2, 1}, [=] {
    Fixture f;
    attached_long_ago(f);
    spawn([&f] { set_another(f); });
    spawn([&f, beside] { beside(f); });
    join();
    const auto age = [&](int key) {
      const Table& table = Table::of(&f.table(0));
      return meta::age(f.slot(key).load_meta(), table.clock.load(kRelaxed));
    };
    check(age(0), age(1));
    f.finish();
  });
}

// The old attribute is still old, but not so old that it could be taken for a young one.
TEST(Renumber, KeepsTheOrder) {
  ages(use_what_is_there, [](uint64_t old, uint64_t young) {
    expect(old > young, "set first");
    expect(old >= uint64_t{1} << 33 && old < (uint64_t{1} << 33) + 16, "a younger number");
  });
}
// A value that replaces an old one while that is on the list keeps its own number.
TEST(Renumber, LeavesWhatIsYoungerAlone) {
  ages(set(3), [](uint64_t replaced, uint64_t) { expect(replaced < 16, "it was set just now"); });
}

}  // namespace
}  // namespace attrcache::model
