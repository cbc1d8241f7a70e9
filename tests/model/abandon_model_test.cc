// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The end of a table while deletions there are under way, or left to holders: a free that returns
// BUSY, and the ends that can't fail. The memory's next table must not be affected by them.

#include "attrcache/attrcache.h"
#include "tests/model/explorer/atomic.h"
#include "tests/model/explorer/plain.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// One object with one attribute, whose value is bodies[0].
struct Runtime {
  static constexpr int kBodies = 5;
  attrcache_domain* domain = nullptr;
  attrcache_kind* kind = nullptr;
  alignas(64) attrcache_table table = {};
  Plain<int> bodies[kBodies];
  int keyval = 0;
  int deletions[kBodies] = {};
  int destructions = 0;
  int delete_code = 0;
  void (*on_delete)(Runtime&, int) = nullptr;

  explicit Runtime(unsigned flags = 0) {
    support::processors = 1;
    attrcache_domain_options options = {};
    options.flags = flags;
    expect(attrcache_domain_create(&options, &domain) == ATTRCACHE_OK, "a domain is made");
    attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &kind);
    attrcache_callbacks callbacks = {};
    callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(&delete_fn);
    callbacks.extra_state = this;
    callbacks.destructor = [](void* extra, void*) { ++static_cast<Runtime*>(extra)->destructions; };
    attrcache_keyval_create(kind, &callbacks, &keyval);
    set(0);
  }
  static int delete_fn(void*, int, void* value, void* extra) {
    auto& self = *static_cast<Runtime*>(extra);
    const auto n = static_cast<int>(static_cast<Plain<int>*>(value) - self.bodies);
    note("delete_fn of", n);
    ++self.deletions[n];
    if (self.on_delete != nullptr) self.on_delete(self, n);
    self.bodies[n].write(0);
    return self.delete_code;
  }
  int try_to_set(int n, attrcache_table& in) {
    bodies[n].write(1);
    return attrcache_set_as(kind, &in, nullptr, keyval, reinterpret_cast<intptr_t>(&bodies[n]),
                            ATTRCACHE_AS_POINTER, nullptr);
  }
  int try_to_set(int n) { return try_to_set(n, table); }
  void set(int n, attrcache_table& in) { expect(try_to_set(n, in) == ATTRCACHE_OK, "set"); }
  void set(int n) { set(n, table); }
  int erase() { return attrcache_delete(kind, &table, nullptr, keyval, nullptr); }
  int free() { return free(table); }
  int free(attrcache_table& of) {
    return attrcache_delete_all(kind, &of, nullptr, ATTRCACHE_STOP_AT_FAILURE, nullptr);
  }
  int finally() {
    return attrcache_delete_all(kind, &table, nullptr, ATTRCACHE_DRAIN_FINALLY, nullptr);
  }
  void abandon() {
    expect(attrcache_table_abandon(kind, &table) == ATTRCACHE_OK, "abandoned");
    expect_new();
  }
  // Borrows the value, which must be alive. False if nothing is attached.
  bool use(attrcache_borrowed* borrowed) {
    if (attrcache_borrow(kind, &table, keyval, borrowed) != ATTRCACHE_OK) return false;
    expect(static_cast<Plain<int>*>(borrowed->value)->read() == 1, "a borrowed value is alive");
    return true;
  }
  void use() {
    attrcache_borrowed borrowed = {};
    if (use(&borrowed)) attrcache_give_back(&borrowed);
  }
  void expect_new() {
    for (const uint64_t word : table.opaque) expect(word == 0, "the table is empty again");
  }
  void finish() {
    expect_new();
    int variable = keyval;
    attrcache_keyval_free(kind, &variable);
    expect(destructions == 1, "no reference is left");
    expect(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, nullptr) == ATTRCACHE_OK,
           "nothing is attached");
  }
};

// A deletion leaves no trace in a slot when something was attached over it. A free sees it all the
// same; otherwise its thread would write to memory that is used again.
void free_beside_a_deletion_that_shows_nowhere(bool by_a_set, bool empty = false) {
  int busy = 0;
  run_model({2, 1}, [&busy, by_a_set, empty] {
    Runtime r;
    static Atomic<int> deleting;
    deleting.store(0, kRelaxed);
    r.on_delete = [](Runtime&, int n) {
      if (n == 0) deleting.store(1, kRelease);
    };
    r.delete_code = 5;  // so that its thread looks at the slot once more
    spawn([&] {
      if (by_a_set) {
        r.try_to_set(1);
      } else {
        r.erase();
      }
    });
    spawn([&] {
      if (deleting.load(kAcquire) == 0) {
        r.delete_code = 0;
        return;
      }
      if (!by_a_set) r.try_to_set(2);  // over the claim, if that hasn't failed yet
      r.delete_code = 0;
      if (empty) r.erase();
      const int result = r.free();
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY, "freed, or not yet");
      busy += result == ATTRCACHE_ERR_BUSY;
      if (result != ATTRCACHE_OK) return;
      expect(r.bodies[0].read() == 0, "its deletion has ended");
      r.expect_new();
      // The memory's next use: a table with the same slot and the same number in it.
      r.set(3);
      expect(r.erase() == ATTRCACHE_OK && r.deletions[3] == 1,
             "the deletion didn't touch the new value");
    });
    join();
    r.delete_code = 0;
    r.finally();
    r.finish();
  });
  EXPECT_GT(busy, 0);
}
TEST(Free, BesideADeleteThatWasAttachedOver) { free_beside_a_deletion_that_shows_nowhere(false); }
TEST(Free, BesideASet) { free_beside_a_deletion_that_shows_nowhere(true); }
TEST(Free, OfAnEmptyTableBesideASet) { free_beside_a_deletion_that_shows_nowhere(true, true); }

// A free that doesn't find a set busy comes after all that it did, even if the set's thread already
// announces a deletion in another table.
TEST(Free, AfterASet) {
  int after = 0;
  run_model({2, 1}, [&after] {
    Runtime r;
    attrcache_table other = {};
    const auto elsewhere = [&] {
      r.set(2, other);
      attrcache_delete(r.kind, &other, nullptr, r.keyval, nullptr);
    };
    spawn([&] {
      elsewhere();  // so that its own cell is ready
      r.set(1);
      elsewhere();
    });
    spawn([&] {
      void* value;
      attrcache_get(r.kind, &r.table, r.keyval, &value);
      if (value != &r.bodies[1] || r.free() != ATTRCACHE_OK) return;
      expect(r.bodies[0].read() == 0, "deleted by the set");
      ++after;
    });
    join();
    r.finally();
    expect(r.free(other) == ATTRCACHE_OK, "freed");
    r.finish();
  });
  EXPECT_GT(after, 0);
}

// A holder gives back, beside the end of the table, what was replaced or deleted there. Then the
// memory is used again, with the same number in the same slot.
enum class End { kFree, kFinally, kAbandon };
void ends_beside_what_is_left(End how, bool replaced) {
  int busy = 0;
  run_model({2, 1}, [&busy, how, replaced] {
    Runtime r;
    r.use();
    Atomic<int> borrowed{0}, given_back{0};
    int result = ATTRCACHE_OK;
    spawn([&] {
      attrcache_borrowed mine = {};
      if (!r.use(&mine)) return;
      borrowed.store(1, kRelease);
      expect(attrcache_give_back(&mine) == ATTRCACHE_OK, "given back");
      given_back.store(1, kRelease);
    });
    spawn([&] {
      if (borrowed.load(kAcquire) == 0) return;
      if (replaced) {
        r.set(1);
      } else {
        r.erase();
      }
      if (how == End::kFree) result = r.free();
      if (how == End::kFinally) result = r.finally();
      if (how == End::kAbandon) r.abandon();
      expect(result == ATTRCACHE_OK || (how == End::kFree && result == ATTRCACHE_ERR_BUSY),
             "freed, or not yet");
      expect(how != End::kFree || result != ATTRCACHE_OK || r.deletions[0] == 1,
             "what was left comes first");
      busy += result == ATTRCACHE_ERR_BUSY;
      if (result != ATTRCACHE_OK) return;
      r.expect_new();
      if (how == End::kFree) expect(r.bodies[0].read() == 0, "its delete_fn has ended");
      if (given_back.load(kAcquire) == 0) return;
      r.set(2);
      r.use();
      expect(r.erase() == ATTRCACHE_OK && r.deletions[2] == 1, "nobody holds the new value");
    });
    join();
    expect(r.deletions[0] <= 1 && r.deletions[1] <= 1, "once");
    r.finally();
    r.finish();
  });
  EXPECT_TRUE(busy > 0 || how != End::kFree);
}
TEST(Abandon, BesideWhatIsLeft) {
  for (const End how : {End::kAbandon, End::kFinally}) {
    ends_beside_what_is_left(how, true);
    ends_beside_what_is_left(how, false);
  }
}
TEST(Free, BesideWhatIsLeft) { ends_beside_what_is_left(End::kFree, true); }

// The set's own callback ends the object. That deletes the value that the set has attached, and the
// set returns OK; otherwise its caller would delete the value once more. Nor does the set touch
// what the callback has attached to the same memory since.
TEST(Free, WithinTheDeleteFnOfASet) {
  for (const int code : {0, 5}) {
    run_model({2, 0}, [code] {
      Runtime r;
      r.delete_code = code;
      r.on_delete = [](Runtime& self, int n) {
        if (n != 0) return;
        const int own = self.delete_code;
        self.delete_code = 0;
        expect(self.free() == ATTRCACHE_OK && self.deletions[1] == 1, "freed");
        self.set(2);
        self.set(1);  // with the same number as before
        self.delete_code = own;
      };
      spawn([&r] { r.set(1); });
      join();
      r.delete_code = 0;
      expect(r.free() == ATTRCACHE_OK && r.deletions[1] == 2, "the new value was attached");
      expect(r.deletions[0] == 1 && r.deletions[2] == 1, "each once");
      r.finish();
    });
  }
}

// A tomb that is used again for another table isn't taken for one of the table before.
TEST(Tomb, UsedAgainForAnotherTable) {
  for (const char end : {'f', 'm', 'a'}) {
    run_model({2, 1}, [end] {
      Runtime r(ATTRCACHE_FULL_FENCES);  // a heavy fence would hide what isn't acquired
      alignas(64) attrcache_table tables[4096 / sizeof(attrcache_table) + 1] = {};
      attrcache_table& one = tables[0];
      attrcache_table& other = std::end(tables)[-1];  // its slots' tombs are in the same lists
      const auto leave = [&r](attrcache_table& table, int n) {
        attrcache_borrowed borrowed = {};
        r.set(n, table);
        attrcache_borrow(r.kind, &table, r.keyval, &borrowed);
        r.set(n + 1, table);
        attrcache_give_back(&borrowed);
        expect(r.deletions[n] == 1, "by the last holder");
      };
      leave(one, 1);
      spawn([&] {
        if (end == 'f') expect(r.free(one) == ATTRCACHE_OK, "nothing of it is left");
        if (end == 'm') {
          expect(attrcache_table_move(r.kind, &one, &tables[1]) == ATTRCACHE_OK, "the same");
        }
        if (end == 'a') attrcache_table_abandon(r.kind, &one);
      });
      spawn([&] { leave(other, 3); });
      join();
      for (attrcache_table& table : tables) expect(r.free(table) == ATTRCACHE_OK, "freed");
      r.finally();
      r.finish();
    });
  }
}

}  // namespace
}  // namespace attrcache::model
