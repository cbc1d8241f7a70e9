// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The end of a table while deletions there are under way, or handed off: a free that returns
// BUSY, and the ends that can't fail. The memory's next table must not be affected by them.

#include "tests/model/explorer/atomic.h"
#include "tests/model/race.h"

namespace attrcache::model {
namespace {

// Explores two threads on an object whose value 1 is attached.
template <typename Prepare, typename First, typename Second>
void race_of_two(Prepare prepare, First first, Second second) {
  race({}, in_turn(attached(), prepare), first, second);
}
// The memory's next use: a table with the same slot and the same number in it.
void use_again(Fixture& f, int value) {
  f.set(0, 0, value);
  f.use(0, 0);
  expect(f.erase(0, 0) == ATTRCACHE_OK && f.values[value].deleted == 1,
         "nobody holds the new value, or touches it");
}

// A deletion leaves no trace in a slot when something was attached over it. A free sees it all the
// same; otherwise its thread would write to memory that is used again.
void free_beside_a_deletion_that_shows_nowhere(bool by_a_set, bool empty = false) {
  static Atomic<int> deleting;
  const auto deletes = [](Fixture&, int value) {
    if (value == 1) deleting.store(1, kRelease);
  };
  const auto prepare = [=](Fixture& f) {
    deleting.store(0, kRelaxed);
    on_delete(deletes)(f);
    f.values[1].failures = 9;  // so that its thread looks at the slot once more
  };
  const auto set_or_delete = [by_a_set](Fixture& f) { by_a_set ? f.set(0, 0, 2) : f.erase(0, 0); };
  const auto free = [=](Fixture& f) {
    const bool begun = deleting.load(kAcquire) != 0;
    if (begun && !by_a_set) f.set(0, 0, 3);  // over the claim, if that hasn't failed yet
    f.values[1].failures = 0;
    reaches("beside the deletion", begun);
    if (!begun) return;
    if (empty) f.erase(0, 0);
    const bool freed = is_freed(f);
    reaches("busy", !freed);
    if (!freed) return;
    f.values[1].body.read();  // a race, unless its deletion has ended
    expect(is_as_new(f.table(0)), "the table is empty again");
    use_again(f, 4);
  };
  race_of_two(prepare, set_or_delete, free);
}
TEST(Free, BesideADelete) {
  const auto free = [](Fixture& f) {
    if (is_freed(f)) f.values[1].body.read();
  };
  race({}, attached(), erase, free);
}
TEST(Free, BesideADeleteThatWasAttachedOver) { free_beside_a_deletion_that_shows_nowhere(false); }
TEST(Free, BesideASet) { free_beside_a_deletion_that_shows_nowhere(true); }
TEST(Free, OfAnEmptyTableBesideASet) { free_beside_a_deletion_that_shows_nowhere(true, true); }

// A free that doesn't find a set busy comes after all that it did, even if the set's thread already
// announces a deletion in another table.
TEST(Free, AfterASet) {
  const auto elsewhere = [](int value) {
    return [value](Fixture& f) {
      f.set(1, 0, value);
      f.erase(1, 0);
    };
  };
  const auto free = [](Fixture& f) {
    const bool after = f.get(0, 0) == 2 && f.erase_all(0) == ATTRCACHE_OK;
    reaches("freed after the set", after);
    if (after) expect(f.values[1].body.read() > 1000, "deleted by the set");
  };
  // The first deletion elsewhere makes the thread's own cell ready.
  race_of_two([](Fixture&) {}, in_turn(elsewhere(3), set(2), elsewhere(4)), free);
}

// A holder gives back, beside the end of the table, what was replaced or deleted there. Then the
// memory is used again, with the same number in the same slot. What was handed off is given
// up by an end that can't fail: it isn't deleted if the holder begins to give back afterwards.
enum class End { kFree, kFinally, kAbandon };
void ends_beside_what_is_left(End how, bool replaced) {
  static Atomic<int> borrowed, given_back;
  static bool gives_back, given_up;  // in the order of the explorer's steps
  const auto prepare = [](Fixture& f) {
    borrowed.store(0, kRelaxed);
    given_back.store(0, kRelaxed);
    gives_back = given_up = false;
    f.use(0, 0);
  };
  const auto hold = [](Fixture& f) {
    attrcache_borrowed mine = {};
    if (!f.borrow(0, 0, &mine)) return;
    borrowed.store(1, kRelease);
    borrowed.load(kRelaxed);  // a step, before which the other thread may come
    const bool left = given_up;
    gives_back = true;
    f.give_back(&mine);
    expect(!left || f.values[1].deleted == 0, "given up with its table");
    given_back.store(1, kRelease);
  };
  const auto end = [=](Fixture& f) {
    const bool held = borrowed.load(kAcquire) != 0;
    reaches("beside the holder", held);
    if (!held) return;
    replaced ? f.set(0, 0, 2) : f.erase(0, 0);
    if (how == End::kFree) {
      const bool freed = is_freed(f);
      reaches("busy", !freed);
      if (!freed) return;
    }
    if (how == End::kFinally)
      expect(f.erase_all(0, ATTRCACHE_DRAIN_FINALLY) == ATTRCACHE_OK, "it can't fail");
    if (how == End::kAbandon) f.abandon(0);
    expect(is_as_new(f.table(0)), "the table is empty again");
    given_up = how != End::kFree && !gives_back;
    if (how == End::kFree) {
      expect(f.values[1].deleted == 1, "what was left comes first");
      expect(f.values[1].body.read() > 1000, "its delete_fn has ended");
    }
    if (given_back.load(kAcquire) != 0) use_again(f, 3);
  };
  race_of_two(prepare, hold, end);
}
TEST(Abandon, BesideWhatIsLeft) {
  for (const End how : {End::kAbandon, End::kFinally}) {
    ends_beside_what_is_left(how, true);
    ends_beside_what_is_left(how, false);
  }
}
TEST(Free, BesideWhatIsLeft) { ends_beside_what_is_left(End::kFree, true); }

// A tomb that is used again for another table isn't taken for one of the table before.
TEST(Tomb, UsedAgainForAnotherTable) {
  for (const char end : {'f', 'm', 'a'}) {
    run_model({2, 1}, [end] {
      Fixture f(1, ATTRCACHE_FULL_FENCES);  // a heavy fence would hide what isn't acquired
      f.make_key(Fixture::kDelete);
      alignas(64) attrcache_table tables[4096 / sizeof(attrcache_table) + 1] = {};
      attrcache_table& one = tables[0];
      attrcache_table& other = std::end(tables)[-1];  // its slots' tombs are in the same lists
      const auto set = [&f](attrcache_table& table, int n) {
        attrcache_set_as(f.kind(), &table, nullptr, f.keys[0].keyval,
                         reinterpret_cast<intptr_t>(&f.values[n]), ATTRCACHE_AS_POINTER, nullptr);
      };
      const auto leave = [&](attrcache_table& table, int n) {
        attrcache_borrowed borrowed = {};
        set(table, n);
        attrcache_borrow(f.kind(), &table, f.keys[0].keyval, &borrowed);
        set(table, n + 1);
        attrcache_give_back(&borrowed);
        expect(f.values[n].deleted == 1, "by the last holder");
      };
      const auto free = [&f](attrcache_table& table) {
        expect(attrcache_delete_all(f.kind(), &table, nullptr, ATTRCACHE_STOP_AT_FAILURE,
                                    nullptr) == ATTRCACHE_OK,
               "nothing of it is left");
      };
      leave(one, 1);
      spawn([&] {
        if (end == 'f') free(one);
        if (end == 'm') {
          expect(attrcache_table_move(f.kind(), &one, &tables[1]) == ATTRCACHE_OK, "the same");
        }
        if (end == 'a') attrcache_table_abandon(f.kind(), &one);
      });
      spawn([&] { leave(other, 3); });
      join();
      for (attrcache_table& table : tables) free(table);
      f.finish();
    });
  }
}

}  // namespace
}  // namespace attrcache::model
