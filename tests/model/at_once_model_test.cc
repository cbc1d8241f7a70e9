// SPDX-License-Identifier: Apache-2.0
//
// What dup and free may not do at once (lib/table/at_once.h): every condition that sends them to
// the way by callbacks, by one thread where that is enough, and by two that race.

#include <cstring>

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "platform/thread.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

enum class Copy { kNot, kDup, kCalled };
enum class Delete { kSilent, kCalled };

// Two objects, the old and the new one, and the keyvals of two kinds.
struct Objects {
  static constexpr int kKeys = 72;
  static constexpr intptr_t kCopied = 100;  // what copy_fn adds to a value

  explicit Objects(unsigned stripes = 1) {
    attrcache_domain_options options = {};
    options.stripes = stripes;
    expect(attrcache_domain_create(&options, &domain) == ATTRCACHE_OK, "a domain is made");
    kind = attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR);
    other = attrcache_kind_of(domain, ATTRCACHE_WINDOW);
  }
  int make(Copy copy, Delete del, attrcache_kind* of) {
    attrcache_callbacks callbacks = {};
    if (copy == Copy::kDup) callbacks.copy_fn = ATTRCACHE_DUP_FN;
    if (copy == Copy::kCalled) callbacks.copy_fn = reinterpret_cast<attrcache_callback*>(&copy_fn);
    if (del == Delete::kCalled) {
      callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(&delete_fn);
    }
    callbacks.extra_state = this;
    callbacks.destructor = [](void* extra) {
      auto& self = *static_cast<Objects*>(extra);
      self.extra.write(0);
      ++self.destroyed;
      if (self.on_destroy != nullptr) self.on_destroy(self);
    };
    int keyval;
    expect(attrcache_keyval_create(of, &callbacks, &keyval) == ATTRCACHE_OK, "a keyval");
    return keyval;
  }
  // The next index's.
  void key(Copy copy, Delete del) { keys[made++] = make(copy, del, kind); }
  void keys_up_to(int count, Copy copy, Delete del) {
    while (made < count) key(copy, del);
  }
  void set(int k, intptr_t value, int object = 0) {
    expect(attrcache_set(kind, &tables[object], nullptr, keys[k], value, ATTRCACHE_AS_POINTER,
                         nullptr) == ATTRCACHE_OK,
           "the set succeeds");
  }
  void erase(int k) {
    expect(attrcache_delete(kind, &tables[0], nullptr, keys[k], nullptr) == ATTRCACHE_OK,
           "the delete succeeds");
  }
  int copy() { return attrcache_copy_all(kind, &tables[0], nullptr, &tables[1], nullptr, nullptr); }
  int erase_all(int object, attrcache_kind* of) {
    return attrcache_delete_all(of, &tables[object], nullptr, ATTRCACHE_STOP_AT_FAILURE, nullptr);
  }
  void free_key(int k) {
    int keyval = keys[k];
    expect(attrcache_keyval_free(kind, &keyval) == ATTRCACHE_OK, "freed");
  }
  intptr_t value(int object, int k) {
    void* found = nullptr;
    return attrcache_get(kind, &tables[object], keys[k], &found) == ATTRCACHE_OK
               ? reinterpret_cast<intptr_t>(found)
               : 0;
  }
  uint64_t attributes() {
    attrcache_counters counters;
    attrcache_domain_counters(domain, &counters);
    return counters.attributes;
  }
  bool is_as_new(int object) {
    static const attrcache_table zero = {};
    return std::memcmp(&tables[object], &zero, sizeof(zero)) == 0;
  }
  int times_deleted(intptr_t value) {
    int times = 0;
    for (int d = 0; d < deletions; ++d) times += deleted[d] == value;
    return times;
  }
  // Every reference is given back, or the domain could not be destroyed.
  void end() {
    for (int object = 0; object < 2; ++object) {
      expect(erase_all(object, kind) == ATTRCACHE_OK, "the objects are freed");
      expect(is_as_new(object), "a freed object's table is empty");
    }
    expect(attributes() == 0, "as many references as attributes");
    expect(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, nullptr) == ATTRCACHE_OK,
           "nothing is left");
  }

  static int copy_fn(void*, int, void* extra, void* in, void* out, int* flag) {
    auto& self = *static_cast<Objects*>(extra);
    if (self.on_copy != nullptr) self.on_copy(self);
    *static_cast<void**>(out) = reinterpret_cast<void*>(reinterpret_cast<intptr_t>(in) + kCopied);
    *flag = 1;
    return 0;
  }
  static int delete_fn(void*, int keyval, void* value, void* extra) {
    auto& self = *static_cast<Objects*>(extra);
    if (self.on_delete != nullptr) self.on_delete(self, keyval);
    self.deleted[self.deletions++] = reinterpret_cast<intptr_t>(value);
    return 0;
  }

  attrcache_domain* domain = nullptr;
  attrcache_kind* kind = nullptr;
  attrcache_kind* other = nullptr;
  int keys[kKeys] = {};
  int made = 0;
  alignas(64) attrcache_table tables[2] = {};
  void (*on_copy)(Objects&) = nullptr;
  void (*on_delete)(Objects&, int keyval) = nullptr;
  void (*on_destroy)(Objects&) = nullptr;
  unsigned copier = 0;  // a thread's ordinal
  int older_seen = 0;
  intptr_t deleted[16] = {};  // by delete_fn, in this order
  int deletions = 0;
  int destroyed = 0;
  Plain<int> extra{1};  // what a destructor releases
};

// In the table, the first leaf, a leaf, the tree.
TEST(AtOnce, AttributesEverywhere) {
  for (const Delete del : {Delete::kSilent, Delete::kCalled}) {
    for (const int far : {4, 9, 70}) {
      run_model({}, [=] {
        Objects o;
        o.keys_up_to(far + 1, Copy::kDup, del);
        o.set(0, 1);
        o.set(far, 2);
        expect(o.copy() == ATTRCACHE_OK, "copied");
        expect(o.value(1, 0) == 1 && o.value(1, far) == 2, "both are copied");
        expect(o.attributes() == 4, "as many references as attributes");
        o.end();
        expect(o.deletions == (del == Delete::kCalled ? 4 : 0), "each is deleted");
      });
    }
  }
}

// A single attribute that needs a callback, among others that need none. Those that are older than
// it are still there when its delete_fn runs.
TEST(AtOnce, OneCallbackToBeRun) {
  for (const int called : {0, 1, 4, 8, 9}) {
    run_model({}, [=] {
      Objects o;
      for (int k = 0; k < 11; ++k) {
        o.key(k == called ? Copy::kCalled : Copy::kDup,
              k == called ? Delete::kCalled : Delete::kSilent);
      }
      for (int k : {0, 1, 4, 8, 9, 10}) {
        if (called < 8 && k >= 8) continue;
        o.set(k, k + 1);
      }
      const uint64_t set = o.attributes();
      expect(o.copy() == ATTRCACHE_OK, "copied");
      for (int k : {0, 1, 4, 8, 9, 10}) {
        const intptr_t value = o.value(0, k);
        expect(o.value(1, k) == (k == called ? value + Objects::kCopied : value), "as it should");
      }
      expect(o.attributes() == 2 * set, "as many references as attributes");
      o.on_delete = [](Objects& self, int keyval) {
        for (int k = 0; self.keys[k] != keyval; ++k) {
          if (self.value(1, k) != 0) ++self.older_seen;
        }
      };
      expect(o.erase_all(1, o.kind) == ATTRCACHE_OK, "freed");
      o.on_delete = nullptr;
      const int older = called < 4 ? called : called == 4 ? 2 : called - 5;
      expect(o.older_seen == older, "delete_fn finds all that are older");
      o.end();
      expect(o.deletions == 2, "delete_fn is run on both");
    });
  }
}

TEST(AtOnce, CopyToWhatHasAttributes) {
  run_model({}, [] {
    Objects o;
    o.keys_up_to(5, Copy::kDup, Delete::kCalled);
    o.set(0, 1);
    o.set(0, 5, 1);
    expect(o.copy() == ATTRCACHE_OK && o.value(1, 0) == 1, "copied");
    expect(o.deletions == 1 && o.deleted[0] == 5, "what was there is deleted");
    o.end();
  });
}

TEST(AtOnce, NothingToCopy) {
  run_model({}, [] {
    Objects o;
    o.keys_up_to(5, Copy::kNot, Delete::kSilent);
    o.set(0, 1);
    o.set(4, 2);
    expect(o.copy() == ATTRCACHE_OK, "nothing is copied");
    expect(o.is_as_new(1), "and the new object's table is as it was");
    o.end();
  });
}

// Numbers of attachments: what is set on a copy is younger than what was copied.
TEST(AtOnce, CopiesAreOlder) {
  run_model({}, [] {
    Objects o;
    o.keys_up_to(2, Copy::kDup, Delete::kCalled);
    o.set(1, 1);
    o.copy();
    o.set(0, 2, 1);
    expect(o.erase_all(1, o.kind) == ATTRCACHE_OK, "freed");
    expect(o.deleted[0] == 2 && o.deleted[1] == 1, "the youngest first");
    o.end();
  });
}

// Also where the copied one came while the copy was being made.
TEST(AtOnce, CopiesAreOlderThoughSetMeanwhile) {
  run_model({}, [] {
    Objects o;
    o.keys_up_to(2, Copy::kDup, Delete::kCalled);
    spawn([&o] { o.set(1, 1); });
    spawn([&o] {
      o.copy();
      o.set(0, 2, 1);
      const bool copied = o.value(1, 1) != 0;
      expect(o.erase_all(1, o.kind) == ATTRCACHE_OK, "freed");
      expect(o.deletions == (copied ? 2 : 1) && o.deleted[0] == 2, "the youngest first");
    });
    join();
    o.end();
  });
}

// Calls with another kind than that of the object, whose keyvals have the same indices.
TEST(AtOnce, AnotherKind) {
  for (const Copy copy : {Copy::kDup, Copy::kNot}) {
    run_model({}, [=] {
      Objects o;
      o.key(copy, Delete::kSilent);
      o.make(copy, Delete::kSilent, o.other);
      o.set(0, 1);
      expect(attrcache_copy_all(o.other, &o.tables[0], nullptr, &o.tables[1], nullptr, nullptr) ==
                 ATTRCACHE_ERR_KEYVAL_KIND,
             "copy_all");
      expect(o.erase_all(0, o.other) == ATTRCACHE_ERR_KEYVAL_KIND, "delete_all");
      expect(attrcache_set(o.other, &o.tables[0], nullptr, o.keys[0], 2, ATTRCACHE_AS_POINTER,
                           nullptr) == ATTRCACHE_ERR_KEYVAL_KIND,
             "set that replaces");
      expect(attrcache_delete(o.other, &o.tables[0], nullptr, o.keys[0], nullptr) ==
                 ATTRCACHE_ERR_KEYVAL_KIND,
             "delete");
      expect(attrcache_set(o.other, &o.tables[1], nullptr, o.keys[0], 2, ATTRCACHE_AS_POINTER,
                           nullptr) == ATTRCACHE_ERR_KEYVAL_KIND,
             "set that attaches");
      expect(o.value(0, 0) == 1 && o.attributes() == 1, "nothing has changed");
      o.end();
    });
  }
}

// What isn't the user's to set, delete or free.
TEST(AtOnce, Predefined) {
  run_model({}, [] {
    Objects o;
    expect(attrcache_keyval_create_predefined(o.kind, ATTRCACHE_AS_INT, &o.keys[0]) == ATTRCACHE_OK,
           "made");
    const auto refused = [&o](int object) {
      expect(attrcache_set(o.kind, &o.tables[object], nullptr, o.keys[0], 2, ATTRCACHE_AS_POINTER,
                           nullptr) == ATTRCACHE_ERR_KEYVAL_PREDEFINED,
             "set");
      expect(attrcache_delete(o.kind, &o.tables[object], nullptr, o.keys[0], nullptr) ==
                 ATTRCACHE_ERR_KEYVAL_PREDEFINED,
             "delete");
    };
    refused(0);
    expect(attrcache_set_predefined(o.kind, &o.tables[0], o.keys[0], 7) == ATTRCACHE_OK, "set");
    refused(0);
    int keyval = o.keys[0];
    expect(attrcache_keyval_free(o.kind, &keyval) == ATTRCACHE_ERR_KEYVAL_PREDEFINED, "free");
    expect(o.copy() == ATTRCACHE_OK && o.is_as_new(1), "not copied");
    refused(1);
    void* value = nullptr;
    expect(attrcache_get(o.kind, &o.tables[0], o.keys[0], &value) == ATTRCACHE_OK &&
               *static_cast<int*>(value) == 7,
           "still there");
    o.end();
  });
}

// A freed keyval ends with its last attribute, and only once, after those deleted at once before.
TEST(AtOnce, FreedKeyvals) {
  for (const Copy copy : {Copy::kDup, Copy::kNot, Copy::kCalled}) {
    for (const int freed : {0, 1, 2}) {
      run_model({}, [=] {
        Objects o;
        for (int k = 0; k < 3; ++k) o.key(k == freed ? copy : Copy::kDup, Delete::kSilent);
        for (int k = 0; k < 3; ++k) o.set(k, k + 1);
        o.free_key(freed);
        expect(o.copy() == ATTRCACHE_OK, "copied");
        const intptr_t expected = copy == Copy::kNot   ? 0
                                  : copy == Copy::kDup ? freed + 1
                                                       : freed + 1 + Objects::kCopied;
        expect(o.value(1, freed) == expected, "as long as the keyval is in use");
        expect(o.attributes() == (copy == Copy::kNot ? 5 : 6), "references");
        expect(o.erase_all(0, o.kind) == ATTRCACHE_OK, "freed");
        expect(o.destroyed == (copy == Copy::kNot ? 1 : 0), "the keyval lives by the copy");
        expect(o.attributes() == (copy == Copy::kNot ? 2 : 3), "references");
        expect(o.erase_all(1, o.kind) == ATTRCACHE_OK, "freed");
        expect(o.destroyed == 1, "the keyval ends");
        o.end();
        expect(o.destroyed == 3, "the others end with the domain");
      });
    }
  }
}

// A copy_fn that frees the object that is being copied, when its own attribute is no more.
TEST(AtOnce, FreeOfWhatIsBeingCopied) {
  run_model({}, [] {
    Objects o;
    o.key(Copy::kCalled, Delete::kSilent);
    o.keys_up_to(12, Copy::kDup, Delete::kSilent);
    o.set(0, 1);
    o.set(4, 2);
    o.set(9, 3);
    o.on_copy = [](Objects& self) {
      self.erase(0);
      expect(self.erase_all(0, self.kind) == ATTRCACHE_OK, "freed");
    };
    expect(o.copy() == ATTRCACHE_ERR_BUSY, "the copy is told");
    o.end();
  });
}

// A value whose delete_fn runs isn't copied, nor is the mark of it.
TEST(AtOnce, CopyAgainstDelete) {
  run_model({}, [] {
    Objects o;
    o.keys_up_to(2, Copy::kDup, Delete::kCalled);
    o.set(0, 1);
    o.set(1, 2);
    bool copied = false;
    spawn([&o] { o.erase(1); });
    spawn([&] {
      expect(o.copy() == ATTRCACHE_OK, "copied");
      copied = o.value(1, 1) == 2;
      expect(o.value(1, 0) == 1, "the other one is copied");
      expect(o.erase_all(1, o.kind) == ATTRCACHE_OK, "and deleted");
    });
    join();
    o.end();
    expect(o.times_deleted(1) == 2, "both");
    expect(o.times_deleted(2) == (copied ? 2 : 1), "as often as attached");
  });
}

// A borrow of the original is none of the copy.
TEST(AtOnce, CopyAgainstBorrow) {
  run_model({}, [] {
    Objects o;
    o.key(Copy::kDup, Delete::kSilent);
    o.set(0, 1);
    spawn([&o] {
      attrcache_borrowed borrowed;
      expect(attrcache_borrow(o.kind, &o.tables[0], o.keys[0], &borrowed) == ATTRCACHE_OK, "there");
      attrcache_give_back(&borrowed);
    });
    spawn([&o] {
      expect(o.copy() == ATTRCACHE_OK && o.value(1, 0) == 1, "copied");
      o.set(0, 2, 1);  // would wait
      expect(o.erase_all(1, o.kind) == ATTRCACHE_OK, "freed");
    });
    join();
    o.end();
  });
}

// A free waits until what another thread has borrowed is given back.
TEST(AtOnce, FreeAgainstBorrow) {
  run_model({3}, [] {
    Objects o;
    o.key(Copy::kDup, Delete::kSilent);
    o.set(0, 1);
    Plain<int> body{1};
    Atomic<int> lent{0};
    spawn([&] {
      attrcache_borrowed borrowed;
      expect(attrcache_borrow(o.kind, &o.tables[0], o.keys[0], &borrowed) == ATTRCACHE_OK, "there");
      lent.store(1, kRelease);
      expect(body.read() == 1, "what is borrowed is alive");
      attrcache_give_back(&borrowed);
    });
    spawn([&] {
      if (lent.load(kAcquire) == 0) return;
      expect(o.erase_all(0, o.kind) == ATTRCACHE_OK, "freed");
      body.write(2);
    });
    join();
    o.end();
  });
}

// The keyval ends once, when both its free and that of the object are done.
TEST(AtOnce, FreeAgainstFreeKeyval) {
  for (const unsigned stripes : {1u, 2u}) {
    run_model({}, [=] {
      Objects o(stripes);
      o.keys_up_to(2, Copy::kDup, Delete::kSilent);
      o.set(0, 1);
      o.set(1, 2);
      spawn([&o] { o.free_key(1); });
      spawn([&o] {
        o.extra.read();
        expect(o.erase_all(0, o.kind) == ATTRCACHE_OK, "freed");
      });
      join();
      expect(o.destroyed == 1, "gone");
      o.free_key(0);
      expect(o.destroyed == 2, "the other's reference is given back, once");
      o.end();
    });
  }
}

// The end of a freed keyval is a callback, too: it finds what is older still there.
TEST(AtOnce, OneDestructorToBeRun) {
  run_model({}, [] {
    Objects o;
    o.keys_up_to(2, Copy::kDup, Delete::kSilent);
    o.set(0, 1);
    o.set(1, 2);
    o.on_destroy = [](Objects& objects) {
      expect(objects.value(0, 0) == 1, "a destructor finds all that are older");
    };
    o.free_key(1);
    spawn([&o] { expect(o.erase_all(0, o.kind) == ATTRCACHE_OK, "freed"); });
    join();
    o.on_destroy = nullptr;
    expect(o.destroyed == 1, "gone");
    o.end();
  });
}

// A dup that begins again drops the last reference on a keyval, whose destructor frees the old
// object.
TEST(AtOnce, GivenUpCopyEndsKeyval) {
  run_model({2}, [] {
    Objects o;
    o.key(Copy::kDup, Delete::kSilent);
    o.key(Copy::kCalled, Delete::kSilent);
    o.set(0, 1);
    o.set(1, 2);
    o.on_destroy = [](Objects& objects) {
      if (thread_ordinal() == objects.copier) objects.erase_all(0, objects.kind);
    };
    spawn([&o] {
      o.erase(0);
      o.free_key(0);
    });
    spawn([&o] {
      o.copier = thread_ordinal();
      const int result = o.copy();
      o.copier = 0;
      expect(result == (o.is_as_new(0) ? ATTRCACHE_ERR_BUSY : ATTRCACHE_OK), "noticed");
    });
    join();
    o.on_destroy = nullptr;
    o.end();
  });
}

// What dup finds again under callbacks: attached at every instant, though never for long. (The walk
// in the order of setting.)
TEST(AtOnce, CopyByCallbackFindsWhatIsReplaced) {
  run_model({3}, [] {
    Objects o;
    o.key(Copy::kDup, Delete::kSilent);
    o.key(Copy::kCalled, Delete::kSilent);
    o.set(0, 1);
    o.set(1, 9);
    spawn([&o] {
      o.set(0, 2);
      o.set(0, 3);
    });
    spawn([&o] {
      expect(o.copy() == ATTRCACHE_OK, "copied");
      expect(o.value(1, 0) >= 1 && o.value(1, 0) <= 3, "one of its values is copied");
    });
    join();
    o.end();
  });
}

// A dup that has read a value, and sleeps while its keyval ends and the index comes round again.
TEST(AtOnce, CopyAgainstReuseOfTheIndex) {
  int reused = 0;
  run_model({1, 2}, [&reused] {
    Objects o;
    o.key(Copy::kDup, Delete::kSilent);
    o.set(0, 1);
    int fillers[Registry::kRest + 4];
    for (int& filler : fillers) attrcache_keyval_create(o.kind, nullptr, &filler);
    for (int& filler : fillers) attrcache_keyval_free(o.kind, &filler);
    int again = 0;
    spawn([&o] { expect(o.copy() == ATTRCACHE_OK, "copied"); });
    spawn([&] {
      o.free_key(0);
      o.erase(0);
      for (uint32_t i = 0; i < 2 * Registry::kRest && again == 0; ++i) {
        int keyval = o.make(Copy::kDup, Delete::kSilent, o.kind);
        if (id::index(static_cast<uint32_t>(keyval)) == 0) {
          again = keyval;
        } else {
          attrcache_keyval_free(o.kind, &keyval);
        }
      }
    });
    join();
    if (again != 0) {
      ++reused;
      expect(o.is_as_new(1), "the value was gone");
      expect(o.attributes() == 0, "and the new keyval has none");
    }
    o.end();
  });
  EXPECT_GT(reused, 10);
}

}  // namespace
}  // namespace attrcache::model
