// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The ends of a table that can't fail, beside a thread that is not yet done with one of its
// attributes.

#include "attrcache/attrcache.h"
#include "tests/model/explorer/plain.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// One object with one attribute, whose value is `body`.
struct Runtime {
  attrcache_domain* domain = nullptr;
  attrcache_kind* kind = nullptr;
  alignas(64) attrcache_table table = {};
  Plain<int> body;
  int keyval = 0;
  int deletions = 0;
  int destructions = 0;
  int delete_code = 0;

  Runtime() {
    attrcache_domain_options options = {};
    options.stripes = 1;
    expect(attrcache_domain_create(&options, &domain) == ATTRCACHE_OK, "a domain is made");
    kind = attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR);
    attrcache_callbacks callbacks = {};
    callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(&delete_fn);
    callbacks.extra_state = this;
    callbacks.destructor = [](void* extra) { ++static_cast<Runtime*>(extra)->destructions; };
    attrcache_keyval_create(kind, &callbacks, &keyval);
    body.write(1);
    expect(set() == ATTRCACHE_OK, "set");
  }
  static int delete_fn(void*, int, void* value, void* extra) {
    auto* self = static_cast<Runtime*>(extra);
    static_cast<Plain<int>*>(value)->write(0);
    ++self->deletions;
    return self->delete_code;
  }
  int set() {
    return attrcache_set(kind, &table, nullptr, keyval, reinterpret_cast<intptr_t>(&body),
                         ATTRCACHE_AS_POINTER, nullptr);
  }
  int erase() { return attrcache_delete(kind, &table, nullptr, keyval, nullptr); }
  int finally() {
    return attrcache_delete_all(kind, &table, nullptr, ATTRCACHE_DRAIN_FINALLY, nullptr);
  }
  // The owner of the object does what it likes with the value after it has given the table up.
  void abandon() {
    expect(attrcache_table_abandon(kind, &table) == ATTRCACHE_OK, "abandoned");
    body.write(2);
  }
  void expect_new() {
    for (const uint64_t word : table.opaque) expect(word == 0, "the table is as new");
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
    spawn([&] {
      attrcache_borrowed borrowed = {};
      if (attrcache_borrow(r.kind, &r.table, r.keyval, &borrowed) != ATTRCACHE_OK) return;
      ++borrowed_it;
      expect(static_cast<Plain<int>*>(borrowed.value)->read() == 1, "it is alive");
      attrcache_give_back(&borrowed);
    });
    spawn([&] { r.abandon(); });
    join();
    expect(r.deletions == 0, "no callback");
    r.finish();
  });
  EXPECT_GT(borrowed_it, 0);
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
      spawn([&] { r.abandon(); });
      join();
      expect(r.deletions <= 1, "once");
      deleted += r.deletions;
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
        r.body.write(2);
      });
      join();
      if (code == 0) {
        expect(r.deletions == 1, "once, by one of the two");
      } else {
        expect(r.deletions == 1 || r.deletions == 2, "again, if the first failed");
        by_both += r.deletions == 2;
      }
      r.finish();
    });
  }
  EXPECT_GT(by_both, 0);
}

// One that is hidden already, because the thread has deleted it as well.
TEST(Abandon, FinallyBesideAHiddenDelete) {
  for (const int code : {0, 5}) {
    run_model({2, 1}, [&] {
      Runtime r;
      r.delete_code = code;
      spawn([&] { r.erase(); });
      spawn([&] {
        r.erase();
        r.finally();
        r.expect_new();
        r.body.write(2);
      });
      join();
      expect(r.deletions >= 1, "deleted");
      r.finish();
    });
  }
}

TEST(Abandon, FinallyBesideABorrow) {
  int borrowed_it = 0;
  run_model({2, 1}, [&] {
    Runtime r;
    spawn([&] {
      attrcache_borrowed borrowed = {};
      if (attrcache_borrow(r.kind, &r.table, r.keyval, &borrowed) != ATTRCACHE_OK) return;
      ++borrowed_it;
      expect(static_cast<Plain<int>*>(borrowed.value)->read() == 1, "it is alive");
      attrcache_give_back(&borrowed);
    });
    spawn([&] { expect(r.finally() == ATTRCACHE_OK, "freed"); });
    join();
    expect(r.deletions == 1, "once");
    r.finish();
  });
  EXPECT_GT(borrowed_it, 0);
}

// The borrower waits for the thread that frees the object, by deleting what that one has borrowed:
// it keeps the value, and what is attached to the same memory next is not held by anybody.
TEST(Abandon, FinallyInACircle) {
  int abandoned = 0;
  run_model({2, 1}, [&] {
    Runtime r;
    alignas(64) attrcache_table other = {};
    Plain<int> others_body, next_body;
    const auto set = [&](attrcache_table* table, Plain<int>* body) {
      body->write(1);
      expect(attrcache_set(r.kind, table, nullptr, r.keyval, reinterpret_cast<intptr_t>(body),
                           ATTRCACHE_AS_POINTER, nullptr) == ATTRCACHE_OK,
             "set");
    };
    set(&other, &others_body);
    attrcache_borrowed of_other = {};
    spawn([&] {
      attrcache_borrowed borrowed = {};
      if (attrcache_borrow(r.kind, &r.table, r.keyval, &borrowed) != ATTRCACHE_OK) return;
      if (borrowed.value == &r.body) {  // not the next one
        const int result = attrcache_delete(r.kind, &other, nullptr, r.keyval, nullptr);
        expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_DEADLOCK, "deleted, or refused");
        expect(r.body.read() == 1, "it is alive");
      }
      expect(attrcache_give_back(&borrowed) == ATTRCACHE_OK, "given back");
    });
    spawn([&] {
      const bool held = attrcache_borrow(r.kind, &other, r.keyval, &of_other) == ATTRCACHE_OK;
      const int result = r.finally();
      expect(result == ATTRCACHE_OK || (held && result == ATTRCACHE_ERR_DEADLOCK), "freed");
      abandoned += result == ATTRCACHE_ERR_DEADLOCK;
      r.expect_new();
      set(&r.table, &next_body);
      attrcache_borrowed next = {};
      expect(attrcache_borrow(r.kind, &r.table, r.keyval, &next) == ATTRCACHE_OK, "borrowed");
      attrcache_give_back(&next);
      expect(r.erase() == ATTRCACHE_OK, "nobody else has borrowed it");
      if (held) attrcache_give_back(&of_other);
    });
    join();
    attrcache_delete_all(r.kind, &other, nullptr, ATTRCACHE_DRAIN, nullptr);
    r.finally();
    r.finish();
  });
  EXPECT_GT(abandoned, 0);
}

}  // namespace
}  // namespace attrcache::model
