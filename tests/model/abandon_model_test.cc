// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The end of a table while threads are still using one of its attributes: a free that returns BUSY,
// and the ends that can't fail. The memory's next table must not be affected by the one before.

#include "attrcache/attrcache.h"
#include "platform/wait.h"
#include "tests/model/explorer/atomic.h"
#include "tests/model/explorer/plain.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// One object with one attribute, whose value is bodies[0].
struct Runtime {
  static constexpr int kBodies = 4;
  attrcache_domain* domain = nullptr;
  attrcache_kind* kind = nullptr;
  alignas(64) attrcache_table table = {};
  Plain<int> bodies[kBodies];
  int keyval = 0;
  int deletions[kBodies] = {};
  int destructions = 0;
  int delete_code = 0;
  void (*on_delete)(Runtime&, int) = nullptr;

  Runtime() {
    support::processors = 1;
    expect(attrcache_domain_create(nullptr, &domain) == ATTRCACHE_OK, "a domain is made");
    kind = attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR);
    attrcache_callbacks callbacks = {};
    callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(&delete_fn);
    callbacks.extra_state = this;
    callbacks.destructor = [](void* extra) { ++static_cast<Runtime*>(extra)->destructions; };
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
  int try_to_set(int n) {
    bodies[n].write(1);
    return attrcache_set(kind, &table, nullptr, keyval, reinterpret_cast<intptr_t>(&bodies[n]),
                         ATTRCACHE_AS_POINTER, nullptr);
  }
  void set(int n) { expect(try_to_set(n) == ATTRCACHE_OK, "set"); }
  int erase() { return attrcache_delete(kind, &table, nullptr, keyval, nullptr); }
  int free() {
    return attrcache_delete_all(kind, &table, nullptr, ATTRCACHE_STOP_AT_FAILURE, nullptr);
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
  bool use() {
    attrcache_borrowed borrowed = {};
    if (!use(&borrowed)) return false;
    expect(attrcache_give_back(&borrowed) == ATTRCACHE_OK, "given back");
    return true;
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

TEST(Abandon, BesideABorrow) {
  int borrowed_it = 0;
  run_model({2, 1}, [&] {
    Runtime r;
    spawn([&] { borrowed_it += r.use(); });
    spawn([&] { r.abandon(); });
    join();
    expect(r.deletions[0] == 0, "no callback");
    r.finish();
  });
  EXPECT_GT(borrowed_it, 0);
}

// A value borrowed from an abandoned table doesn't count as held in the next table at the same
// place.
TEST(Abandon, AndUseTheMemoryAgainBesideABorrow) {
  run_model({2, 1}, [] {
    Runtime r;
    attrcache_borrowed borrowed = {};
    r.use();
    spawn([&] {
      if (attrcache_borrow(r.kind, &r.table, r.keyval, &borrowed) != ATTRCACHE_OK) return;
      attrcache_give_back(&borrowed);
    });
    spawn([&] {
      r.abandon();
      r.set(1);
      r.use();
      r.set(2);
      r.finally();
      r.expect_new();
    });
    join();
    r.finish();
  });
}

TEST(Abandon, BesideADelete) {
  int deleted = 0;
  for (const int code : {0, 5}) {
    run_model({2, 1}, [&] {
      Runtime r;
      r.delete_code = code;
      spawn([&] {
        const int result = r.erase();
        expect(result == ATTRCACHE_OK || (code != 0 && result == ATTRCACHE_ERR_CALLBACK),
               "deleted");
      });
      spawn([&] {
        r.abandon();
        r.bodies[0].write(2);
      });
      join();
      expect(r.deletions[0] <= 1, "once");
      deleted += r.deletions[0];
      r.finish();
    });
  }
  EXPECT_GT(deleted, 0);
}

TEST(Abandon, FinallyBesideADelete) {
  int by_both = 0;
  for (const int code : {0, 5}) {
    run_model({2, 1}, [&] {
      Runtime r;
      r.delete_code = code;
      spawn([&] { r.erase(); });
      spawn([&] {
        const int result = r.finally();
        expect(result == ATTRCACHE_OK || (code != 0 && result == ATTRCACHE_ERR_CALLBACK), "freed");
        r.expect_new();
        r.bodies[0].write(2);
      });
      join();
      expect(r.deletions[0] == 1 || (code != 0 && r.deletions[0] == 2), "again, if it failed");
      by_both += r.deletions[0] == 2;
      r.finish();
    });
  }
  EXPECT_GT(by_both, 0);
}

// A deletion leaves no trace in a slot when something was attached over it. A free and an abandon
// see it all the same; otherwise its thread would write to memory that is used again.
enum class End { kFree, kFinally, kAbandon };
void ends_beside_a_deletion_that_shows_nowhere(End how, bool by_a_set) {
  int busy = 0;
  run_model({2, 1}, [&busy, how, by_a_set] {
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
      int result = ATTRCACHE_OK;
      if (how == End::kAbandon) r.abandon();
      if (how == End::kFinally) r.finally();
      if (how == End::kFree) {
        r.delete_code = 0;
        result = r.free();
        expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY, "freed, or not yet");
      }
      busy += result == ATTRCACHE_ERR_BUSY;
      if (result != ATTRCACHE_OK) return;
      r.delete_code = 0;
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
  EXPECT_TRUE(busy > 0 || how != End::kFree);
}
TEST(Abandon, BesideADeleteThatWasAttachedOver) {
  ends_beside_a_deletion_that_shows_nowhere(End::kAbandon, false);
}
TEST(Abandon, FinallyBesideADeleteThatWasAttachedOver) {
  ends_beside_a_deletion_that_shows_nowhere(End::kFinally, false);
}
TEST(Free, BesideADeleteThatWasAttachedOver) {
  ends_beside_a_deletion_that_shows_nowhere(End::kFree, false);
}
TEST(Abandon, BesideASet) { ends_beside_a_deletion_that_shows_nowhere(End::kAbandon, true); }
TEST(Free, BesideASet) { ends_beside_a_deletion_that_shows_nowhere(End::kFree, true); }

// If a table is abandoned or not yet freed, its borrower still deletes the value.
enum class Left { kNothing, kReplaced, kDeleted };
void ends_beside_what_is_left(End how, Left left) {
  int busy = 0;
  run_model({2, 1}, [&busy, how, left] {
    Runtime r;
    r.use();
    Atomic<int> borrowed{0};
    int result = ATTRCACHE_OK;
    spawn([&] {
      attrcache_borrowed mine = {};
      if (!r.use(&mine)) return;
      borrowed.store(1, kRelease);
      expect(attrcache_give_back(&mine) == ATTRCACHE_OK, "given back");
    });
    spawn([&] {
      if (borrowed.load(kAcquire) == 0) return;
      if (left == Left::kReplaced) r.set(1);
      if (left == Left::kDeleted) r.erase();
      if (how == End::kFree) {
        result = r.free();
        expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY, "freed, or not yet");
        expect(result == ATTRCACHE_ERR_BUSY || r.deletions[0] == 1, "what was left comes first");
      } else {
        r.abandon();
      }
      busy += result == ATTRCACHE_ERR_BUSY;
      if (result != ATTRCACHE_OK) return;
      r.set(2);
      r.use();
      expect(r.erase() == ATTRCACHE_OK && r.deletions[2] == 1, "nobody holds the new value");
      expect(r.free() == ATTRCACHE_OK, "and the table is empty");
    });
    join();
    expect(r.deletions[0] <= 1, "once");
    r.finally();
    r.finish();
  });
  EXPECT_TRUE(busy > 0 || how != End::kFree);
}
TEST(Abandon, BesideWhatIsLeft) {
  for (const Left left : {Left::kNothing, Left::kReplaced, Left::kDeleted}) {
    ends_beside_what_is_left(End::kAbandon, left);
  }
}
TEST(Free, BesideWhatIsLeft) { ends_beside_what_is_left(End::kFree, Left::kReplaced); }

TEST(Abandon, FinallyBesideABorrow) {
  int borrowed_it = 0;
  run_model({2, 1}, [&] {
    Runtime r;
    r.use();
    spawn([&] { borrowed_it += r.use(); });
    spawn([&] {
      const int result = r.finally();
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY,
             "an error if it isn't deleted");
      expect(r.deletions[0] == (result == ATTRCACHE_OK), "deleted, or given up");
      r.expect_new();
    });
    join();
    r.finish();
  });
  EXPECT_GT(borrowed_it, 0);
}

// The set's own callback ends the object. That deletes the value that the set has attached, and the
// set returns OK; otherwise its caller would delete the value once more.
TEST(Free, WithinTheDeleteFnOfASet) {
  for (const int code : {0, 5}) {
    run_model({2, 0}, [code] {
      Runtime r;
      r.delete_code = code;
      r.on_delete = [](Runtime& self, int n) {
        if (n != 0) return;
        const int own = self.delete_code;
        self.delete_code = 0;
        expect(self.free() == ATTRCACHE_OK, "freed");
        self.delete_code = own;
      };
      spawn([&r] { r.set(1); });
      join();
      expect(r.deletions[0] == 1 && r.deletions[1] == 1, "each once");
      r.finish();
    });
  }
}

}  // namespace
}  // namespace attrcache::model
