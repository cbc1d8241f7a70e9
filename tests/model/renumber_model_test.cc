// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Renumbering beside all other operations: a set takes the clock past a multiple of 2^32 while
// other threads pin, delete, replace and copy the attribute that is old enough to be renumbered.

#include "table/meta.h"
#include "table/table.h"
#include "tests/model/objects.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// Attribute 0 is old; the next number that is given out is a multiple of 2^32.
void make_old(Fixture& f) {
  f.make_key(Fixture::kCopy);
  f.make_key(Fixture::kDelete);
  f.set(0, 0, 1);
  Table::of(&f.table(0)).clock.store((uint64_t{3} << 32) - 1, kRelaxed);
}

TEST(Renumber, AgainstDelete) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    make_old(f);
    spawn([&f] { f.set(0, 1, 2); });
    spawn([&f] { f.erase(0, 0); });
  });
}

TEST(Renumber, AgainstSet) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    make_old(f);
    spawn([&f] { f.set(0, 1, 2); });
    spawn([&f] { f.set(0, 0, 3); });
  });
}

TEST(Renumber, AgainstSetThatFails) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    make_old(f);
    f.values[1].failures = 1;
    spawn([&f] { f.set(0, 1, 2); });
    spawn([&f] { f.set(0, 0, 3); });
  });
}

TEST(Renumber, AgainstBorrow) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    make_old(f);
    spawn([&f] { f.set(0, 1, 2); });
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      expect(f.borrow(0, 0, &borrowed), "it is there");
      f.give_back(&borrowed);
    });
  });
}

TEST(Renumber, AgainstCopy) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    make_old(f);
    spawn([&f] { f.set(0, 1, 2); });
    spawn([&f] {
      expect(f.copy(0, 1) == ATTRCACHE_OK, "copied");
      expect(f.get(1, 0) != 0, "the old one is not left out");
    });
  });
}

// A dup takes two old ones in their order, though it meets one before and one after the
// renumbering.
void copy_is_in_order(int first, int second) {
  run_model({2, 1}, [=] {
    Objects o;
    o.keys_up_to(3, Copy::kDup, Delete::kNoDeleteFn);
    o.set(first, 1);
    o.set(second, 2);
    Table::of(&o.tables[0]).clock.store((uint64_t{3} << 32) - 1, kRelaxed);
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
TEST(Renumber, CopyIsInOrderAgainstThatOfIndices) { copy_is_in_order(2, 1); }

// Afterwards the old one is old, but no longer so old that it could be taken for a young one.
TEST(Renumber, KeepsTheOrder) {
  run_model({2, 1}, [] {
    Fixture f;
    make_old(f);
    spawn([&f] { f.set(0, 1, 2); });
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      if (f.borrow(0, 0, &borrowed)) f.give_back(&borrowed);
    });
    join();
    const Table& table = Table::of(&f.table(0));
    const auto age = [&](int key) {
      const auto keyval = id::of(f.keys[key].keyval);
      return meta::age(table.find(id::index(keyval))->load_meta(), table.clock.load(kRelaxed));
    };
    expect(age(0) > age(1), "set first");
    expect(age(0) >= uint64_t{1} << 33 && age(0) < (uint64_t{1} << 33) + 16, "a younger number");
    f.finish();
  });
}

// A value that is set while the old one in its place is on the list keeps its own number.
TEST(Renumber, LeavesWhatIsYoungerAlone) {
  run_model({2, 1}, [] {
    Fixture f;
    make_old(f);
    spawn([&f] { f.set(0, 1, 2); });
    spawn([&f] { f.set(0, 0, 3); });
    join();
    const Table& table = Table::of(&f.table(0));
    const auto keyval = id::of(f.keys[0].keyval);
    const uint64_t m = table.find(id::index(keyval))->load_meta();
    expect(meta::age(m, table.clock.load(kRelaxed)) < 16, "it was set just now");
    f.finish();
  });
}

}  // namespace
}  // namespace attrcache::model
