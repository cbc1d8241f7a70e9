// SPDX-License-Identifier: Apache-2.0
//
// Dup without callbacks (lib/table/at_once.h) against set, delete and free_keyval on the old
// object.

#include "attrcache/attrcache.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// An old and a new object, and keyvals with DUP_FN.
struct Dup {
  explicit Dup(int keyvals, unsigned stripes = 1) {
    attrcache_domain_options options = {};
    options.stripes = stripes;
    expect(attrcache_domain_create(&options, &domain) == ATTRCACHE_OK, "a domain is made");
    kind = attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR);
    attrcache_callbacks callbacks = {};
    callbacks.copy_fn = ATTRCACHE_DUP_FN;
    for (int k = 0; k < keyvals; ++k) {
      expect(attrcache_keyval_create(kind, &callbacks, &keys[k]) == ATTRCACHE_OK, "a keyval");
    }
  }
  void set(int k, intptr_t value) {
    const int result =
        attrcache_set(kind, &tables[0], nullptr, keys[k], value, ATTRCACHE_AS_POINTER, nullptr);
    expect(result == ATTRCACHE_OK, "the set succeeds");
  }
  void erase(int k) {
    expect(attrcache_delete(kind, &tables[0], nullptr, keys[k], nullptr) == ATTRCACHE_OK,
           "the delete succeeds");
  }
  void copy() {
    expect(
        attrcache_copy_all(kind, &tables[0], nullptr, &tables[1], nullptr, nullptr) == ATTRCACHE_OK,
        "the dup succeeds");
  }
  // What the new object has under a keyval; 0: nothing, or the keyval is gone.
  intptr_t copied(int k) {
    void* value = nullptr;
    return attrcache_get(kind, &tables[1], keys[k], &value) == ATTRCACHE_OK
               ? reinterpret_cast<intptr_t>(value)
               : 0;
  }
  void free(int table) {
    expect(attrcache_delete_all(kind, &tables[table], nullptr, ATTRCACHE_STOP_AT_FAILURE,
                                nullptr) == ATTRCACHE_OK,
           "the object is freed");
  }
  attrcache_counters counters() {
    attrcache_counters counters;
    attrcache_domain_counters(domain, &counters);
    return counters;
  }
  uint64_t attributes() { return counters().attributes; }
  // Every reference is given back, or the domain could not be destroyed.
  void end() {
    for (int table : {0, 1}) free(table);
    expect(attributes() == 0, "nothing is attached");
    expect(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, nullptr) == ATTRCACHE_OK,
           "nothing is left");
  }

  attrcache_domain* domain = nullptr;
  attrcache_kind* kind = nullptr;
  int keys[4] = {};
  attrcache_table tables[2] = {};
};

// What is attached at every instant is copied: a set that replaces a value without delete_fn in one
// step is no deletion, and must not make copy_all miss the attribute.
TEST(Dup, FindsWhatIsReplacedMeanwhile) {
  run_model({3}, [] {
    Dup d(1);
    d.set(0, 1);
    spawn([&d] {
      d.set(0, 2);
      d.set(0, 3);
    });
    spawn([&d] {
      d.copy();
      expect(d.copied(0) >= 1 && d.copied(0) <= 3, "one of its values is copied");
    });
    join();
    d.end();
  });
}

// The reference of a copy is its own, whoever gives back that of the original meanwhile.
TEST(Dup, AgainstDelete) {
  run_model({}, [] {
    Dup d(2);
    d.set(0, 1);
    d.set(1, 2);
    spawn([&d] { d.erase(0); });
    spawn([&d] { d.copy(); });
    join();
    expect(d.copied(0) == 0 || d.copied(0) == 1, "the value or nothing");
    expect(d.copied(1) == 2, "the other attribute is copied");
    expect(d.attributes() == (d.copied(0) != 0 ? 3u : 2u), "as many references as attributes");
    d.end();
  });
}

// The keyval lives as long as the copy, which freeing it meanwhile doesn't hinder.
TEST(Dup, AgainstFreeKeyval) {
  for (const bool erase : {false, true}) {
    run_model({3}, [erase] {
      Dup d(1, 2);
      d.set(0, 1);
      spawn([&d, erase] {
        int keyval = d.keys[0];
        expect(attrcache_keyval_free(d.kind, &keyval) == ATTRCACHE_OK, "freed");
        if (erase) d.erase(0);
      });
      spawn([&d] { d.copy(); });
      join();
      expect(d.copied(0) == 1 || erase, "copied, for it was there all the time");
      expect(d.attributes() == (erase ? 0u : 1u) + (d.copied(0) != 0 ? 1u : 0u),
             "as many references as attributes");
      d.end();
    });
  }
}

// Two objects are freed, in one pass each, and so is the keyval of their attributes: it ends, once.
TEST(Free, AgainstFreeAndFreeKeyval) {
  for (const unsigned stripes : {1u, 2u}) {
    run_model({3}, [stripes] {
      Dup d(1, stripes);
      d.set(0, 1);
      d.copy();
      for (int table : {0, 1}) {
        spawn([&d, table] { d.free(table); });
      }
      spawn([&d] {
        int keyval = d.keys[0];
        expect(attrcache_keyval_free(d.kind, &keyval) == ATTRCACHE_OK, "freed");
      });
      join();
      expect(d.counters().keyvals_gone == 1, "the keyval is gone");
      d.end();
    });
  }
}

// The old object's directory comes into being meanwhile.
TEST(Dup, AgainstGrowth) {
  run_model({2}, [] {
    Dup d(4);
    d.set(0, 1);
    spawn([&d] { d.set(3, 4); });
    spawn([&d] { d.copy(); });
    join();
    expect(d.copied(0) == 1, "what was there is copied");
    expect(d.copied(3) == 0 || d.copied(3) == 4, "what came is copied or not");
    d.end();
  });
}

// Two dups of one object.
TEST(Dup, AgainstDup) {
  run_model({3}, [] {
    Dup d(1);
    d.set(0, 1);
    attrcache_table third = {};
    spawn([&] {
      attrcache_copy_all(d.kind, &d.tables[0], nullptr, &third, nullptr, nullptr);
      attrcache_delete_all(d.kind, &third, nullptr, ATTRCACHE_DRAIN, nullptr);
    });
    spawn([&d] { d.copy(); });
    join();
    expect(d.copied(0) == 1, "copied");
    d.end();
  });
}

}  // namespace
}  // namespace attrcache::model
