// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Every condition under which dup and free must not copy or delete an attribute at once
// (lib/table/dup.cc, free.cc), as far as a single thread can show it. dup_free_model_test.cc tests
// the races.

#include "keyval/registry.h"
#include "platform/thread.h"
#include "tests/model/objects.h"

namespace attrcache::model {
namespace {

// Runs one thread, then frees the objects.
template <typename Body>
void alone(Body body) {
  run_model({}, [=] {
    Objects o;
    body(o);
    o.end();
  });
}
void keys_where_one_calls(Objects& o, int count, int called) {
  for (int k = 0; k < count; ++k) {
    o.key(k == called ? Copy::kCalled : Copy::kDup,
          k == called ? Delete::kCalled : Delete::kNoDeleteFn);
  }
}

// In the table, the first leaf, a leaf, the tree.
TEST(AtOnce, AttributesEverywhere) {
  for (const Delete del : {Delete::kNoDeleteFn, Delete::kCalled}) {
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

// A single attribute that needs a callback, among others that need none. Attributes older than it
// are still there when its delete_fn runs: nothing is removed before everything was looked at.
void one_callback_to_be_run(std::initializer_list<int> set, int called) {
  alone([attached = std::vector<int>(set), called](Objects& o) {
    keys_where_one_calls(o, Objects::kKeys, called);
    for (const int k : attached) o.set(k, k + 1);
    expect(o.copy() == ATTRCACHE_OK, "copied");
    int older = 0;
    for (const int k : attached) {
      expect(o.value(1, k) == (k == called ? k + 1 + Objects::kCopied : k + 1),
             "as copied by its copy_fn");
      older += k < called;
    }
    expect(o.attributes() == 2 * attached.size(), "as many references as attributes");
    o.on_delete = [](Objects& self, int keyval) {
      for (int k = 0; self.keys[k] != keyval; ++k) {
        if (self.value(1, k) != 0) ++self.older_seen;
      }
    };
    expect(o.erase_all(1, o.kind) == ATTRCACHE_OK, "freed");
    o.on_delete = nullptr;
    expect(o.older_seen == older, "delete_fn finds all older attributes");
    expect(o.erase_all(0, o.kind) == ATTRCACHE_OK && o.deletions == 2, "it is run on both");
  });
}
TEST(AtOnce, OneCallbackToBeRun) {
  for (const int called : {0, 1, 4}) one_callback_to_be_run({0, 1, 4}, called);
  for (const int called : {0, 4, 9}) one_callback_to_be_run({0, 1, 4, 8, 9, 10}, called);
  for (const int called : {0, 9, 64, 70}) {
    one_callback_to_be_run({0, 4, 9, 17, 64, 70, 71, 72}, called);
  }
}

// Freed keyvals end in the order of their attributes, the youngest first, wherever these are. What
// is older is still there.
void freed_keyvals_end_in_order(int oldest, int older, int younger) {
  alone([=](Objects& o) {
    o.keys_up_to(Objects::kKeys, Copy::kDup, Delete::kNoDeleteFn);
    o.set(oldest, 3);
    o.set(older, 1);
    o.set(younger, 2);
    o.free_key(older);
    o.free_key(younger);
    int seen = 0;
    const auto look = [=, &seen](Objects& self) {
      if (self.value(0, oldest) == 3) ++seen;
      if (self.destroyed == 1 && self.value(0, older) == 1) ++seen;
    };
    o.on_destroy = look;
    expect(o.erase_all(0, o.kind) == ATTRCACHE_OK, "freed");
    expect(o.destroyed == 2 && seen == 3, "each before what is older");
    o.on_destroy = nullptr;
  });
}
TEST(AtOnce, FreedKeyvalsEndInOrder) {
  freed_keyvals_end_in_order(0, 1, 2);  // all in the object
  for (const int oldest : {2, 8, 64}) {
    for (const int older : {0, 9, 70}) {
      for (const int younger : {1, 10, 71}) freed_keyvals_end_in_order(oldest, older, younger);
    }
  }
}

TEST(AtOnce, CopyToAnObjectWithAttributes) {
  alone([](Objects& o) {
    o.keys_up_to(5, Copy::kDup, Delete::kCalled);
    o.set(0, 1);
    o.set(0, 5, 1);
    expect(o.copy() == ATTRCACHE_OK && o.value(1, 0) == 1, "copied");
    expect(o.deletions == 1 && o.deleted[0] == 5, "what was there is deleted");
  });
}

TEST(AtOnce, NothingToCopy) {
  alone([](Objects& o) {
    o.keys_up_to(5, Copy::kNot, Delete::kNoDeleteFn);
    o.set(0, 1);
    o.set(4, 2);
    expect(o.copy() == ATTRCACHE_OK, "nothing is copied");
    expect(o.is_as_new(1), "and the new object's table is still empty");
  });
}

// Calls with another kind than the object's, whose keyvals have the same indices; or which has none.
void calls_with_another_kind(Copy copy, bool has_keyvals) {
  alone([=](Objects& o) {
    o.key(copy, Delete::kNoDeleteFn);
    if (has_keyvals) o.make(copy, Delete::kNoDeleteFn, o.other);
    o.set(0, 1);
    expect(attrcache_copy_all(o.other, &o.tables[0], nullptr, &o.tables[1], nullptr, nullptr) ==
               ATTRCACHE_ERR_KEYVAL_KIND,
           "copy_all");
    expect(o.erase_all(0, o.other) == ATTRCACHE_ERR_KEYVAL_KIND, "delete_all");
    expect(attrcache_set_as(o.other, &o.tables[0], nullptr, o.keys[0], 2, ATTRCACHE_AS_POINTER,
                            nullptr) == ATTRCACHE_ERR_KEYVAL_KIND,
           "set that replaces");
    expect(attrcache_delete(o.other, &o.tables[0], nullptr, o.keys[0], nullptr) ==
               ATTRCACHE_ERR_KEYVAL_KIND,
           "delete");
    expect(attrcache_set_as(o.other, &o.tables[1], nullptr, o.keys[0], 2, ATTRCACHE_AS_POINTER,
                            nullptr) == ATTRCACHE_ERR_KEYVAL_KIND,
           "set that attaches");
    expect(o.value(0, 0) == 1 && o.attributes() == 1, "nothing has changed");
  });
}
TEST(AtOnce, AnotherKind) {
  for (const Copy copy : {Copy::kDup, Copy::kNot}) {
    for (const bool has_keyvals : {true, false}) calls_with_another_kind(copy, has_keyvals);
  }
}

// A freed keyval ends with its last attribute, once, and after what was deleted at once before it.
TEST(AtOnce, FreedKeyvals) {
  for (const Copy copy : {Copy::kDup, Copy::kNot, Copy::kCalled}) {
    for (const int freed : {0, 1, 2}) {
      run_model({}, [=] {
        Objects o;
        for (int k = 0; k < 3; ++k) o.key(k == freed ? copy : Copy::kDup, Delete::kNoDeleteFn);
        for (int k = 0; k < 3; ++k) o.set(k, k + 1);
        o.free_key(freed);
        expect(o.copy() == ATTRCACHE_OK, "copied");
        const intptr_t expected = copy == Copy::kNot   ? 0
                                  : copy == Copy::kDup ? freed + 1
                                                       : freed + 1 + Objects::kCopied;
        expect(o.value(1, freed) == expected, "copied while the keyval is in use");
        expect(o.attributes() == (copy == Copy::kNot ? 5 : 6), "references");
        expect(o.erase_all(0, o.kind) == ATTRCACHE_OK, "freed");
        expect(o.destroyed == (copy == Copy::kNot ? 1 : 0), "the copy keeps the keyval alive");
        expect(o.attributes() == (copy == Copy::kNot ? 2 : 3), "references");
        expect(o.erase_all(1, o.kind) == ATTRCACHE_OK, "freed");
        expect(o.destroyed == 1, "the keyval ends");
        o.end();
        expect(o.destroyed == 3, "the others end with the domain");
      });
    }
  }
}

// A copy_fn that deletes its own attribute and then frees the object that is being copied.
TEST(AtOnce, FreeOfWhatIsBeingCopied) {
  alone([](Objects& o) {
    o.key(Copy::kCalled, Delete::kNoDeleteFn);
    o.keys_up_to(12, Copy::kDup, Delete::kNoDeleteFn);
    o.set(0, 1);
    o.set(4, 2);
    o.set(9, 3);
    o.on_copy = [](Objects& self) {
      self.erase(0);
      expect(self.erase_all(0, self.kind) == ATTRCACHE_OK, "freed");
    };
    expect(o.copy() == ATTRCACHE_ERR_FREED, "copy_all returns that");
  });
}

// What was copied before an attribute was found that needs a callback is copied again, in order, and
// not deleted.
TEST(AtOnce, CopyThatStartsOver) {
  for (const int called : {1, 4, 9, 70}) {
    run_model({}, [=] {
      Objects o;
      for (int k = 0; k < Objects::kKeys; ++k) {
        o.key(k == called ? Copy::kCalled : Copy::kDup, Delete::kCalled);
      }
      const int set[] = {0, 1, 3, 4, 8, 9, 64, 70};
      for (const int k : set) o.set(k, k + 1);
      expect(o.copy() == ATTRCACHE_OK && o.deletions == 0, "copied, and nothing deleted");
      expect(o.attributes() == 16, "as many references as attributes");
      for (const int k : set) expect(o.value(1, k) != 0, "each is copied");
      expect(o.erase_all(1, o.kind) == ATTRCACHE_OK && o.deletions == 8, "each is deleted");
      for (int d = 0; d < 8; ++d) {
        const int k = set[7 - d];
        expect(o.deleted[d] == k + 1 + (k == called ? Objects::kCopied : 0), "the youngest first");
      }
      o.end();
    });
  }
}

// A copy_fn replaces an attribute that is copied after its own, by DUP_FN: the new value is copied,
// and the attribute isn't there before. What is then attached to the new object is the youngest.
TEST(AtOnce, CopyFnsFindWhatThoseBeforeHaveDone) {
  alone([](Objects& o) {
    o.keys_up_to(1, Copy::kDup, Delete::kCalled);
    o.keys_up_to(2, Copy::kCalled, Delete::kCalled);
    o.keys_up_to(3, Copy::kDup, Delete::kCalled);
    o.set(1, 1);
    o.set(0, 2);
    o.on_copy = [](Objects& self) {
      self.on_copy = nullptr;
      expect(self.value(1, 0) == 0, "copied in order");
      for (const intptr_t value : {3, 4, 5}) self.set(0, value);
    };
    expect(o.copy() == ATTRCACHE_OK && o.value(1, 0) == 5, "copied");
    o.set(2, 6, 1);
    o.deletions = 0;
    expect(o.erase_all(1, o.kind) == ATTRCACHE_OK && o.deletions == 3, "freed");
    const intptr_t youngest_first[] = {6, 5, 1 + Objects::kCopied};
    for (int d = 0; d < 3; ++d) expect(o.deleted[d] == youngest_first[d], "the youngest first");
  });
}

// A copy_fn that frees the new object, whose slots exist already.
TEST(AtOnce, FreeOfTheCopy) {
  for (const int at : {0, 4, 9, 70}) {
    alone([=](Objects& o) {
      o.keys_up_to(72, Copy::kCalled, Delete::kCalled);
      o.set(at, 1);
      o.set(at + 1, 2);
      o.on_copy = [](Objects& self) {
        expect(self.erase_all(1, self.kind) == ATTRCACHE_OK, "freed");
      };
      expect(o.copy() == ATTRCACHE_ERR_FREED, "copy_all returns that");
      o.on_copy = nullptr;
      expect(o.is_as_new(1), "nothing is attached");
    });
  }
}

// Callbacks on all of many attributes, in every part of the table, in the order of setting and then
// in the reverse one.
TEST(AtOnce, ManyCallbacksToBeRun) {
  run_model({}, [] {
    Objects o;
    o.keys_up_to(Objects::kKeys, Copy::kCalled, Delete::kCalled);
    const int set[] = {9, 0, 70, 4, 64, 71, 1, 10};
    for (const int k : set) o.set(k, k + 1);
    expect(o.copy() == ATTRCACHE_OK, "copied");
    for (const int k : set) expect(o.value(1, k) == k + 1 + Objects::kCopied, "each at its place");
    expect(o.attributes() == 16, "as many references as attributes");
    o.set(4, 5);  // younger than all others of the old object
    expect(o.erase_all(1, o.kind) == ATTRCACHE_OK, "freed");
    expect(o.deletions == 9 && o.deleted[0] == 5, "the one that was replaced, and the copies");
    for (int d = 0; d < 8; ++d) {
      expect(o.deleted[d + 1] == set[7 - d] + 1 + Objects::kCopied, "the youngest first");
    }
    o.deletions = 0;
    o.end();
    expect(o.deletions == 8 && o.deleted[0] == 5, "the youngest first");
  });
}

// A value whose delete_fn fails stays attached, and its keyval alive, until a second call.
TEST(AtOnce, FreeThatFails) {
  alone([](Objects& o) {
    o.keys_up_to(2, Copy::kCalled, Delete::kCalled);
    o.set(0, 1);
    o.set(1, 2);
    o.free_key(1);
    o.failures = 1;
    expect(o.erase_all(0, o.kind) == ATTRCACHE_ERR_CALLBACK, "delete_fn fails");
    expect(o.value(0, 0) == 1 && o.value(0, 1) == 2, "both are attached");
    expect(o.attributes() == 2 && o.destroyed == 0, "and have their references");
    expect(o.erase_all(0, o.kind) == ATTRCACHE_OK, "freed");
    expect(o.deletions == 2 && o.destroyed == 1, "each once");
  });
}

// A delete_fn that attaches something to the object that is being freed: where nothing is, and in
// the place of its own value.
TEST(AtOnce, DeleteThatAttaches) {
  for (const int at : {0, 1, 2, 9}) {
    alone([=](Objects& o) {
      o.keys_up_to(10, Copy::kCalled, Delete::kCalled);
      o.set(0, 1);
      o.set(1, 2);
      o.older_seen = at;
      o.on_delete = [](Objects& self, int) {
        self.on_delete = nullptr;
        attrcache_set_as(self.kind, &self.tables[0], nullptr, self.keys[self.older_seen], 3,
                         ATTRCACHE_AS_POINTER, nullptr);
      };
      expect(o.erase_all(0, o.kind) == ATTRCACHE_OK, "freed");
      expect(o.is_as_new(0) && o.attributes() == 0, "nothing is left");
      expect(o.deletions == 3 && o.times_deleted(3) == 1, "each is deleted");
    });
  }
}

}  // namespace
}  // namespace attrcache::model
