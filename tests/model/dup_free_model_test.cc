// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Dup and free at once (lib/table/dup.cc, free.cc) against set, delete and free_keyval, and what is
// left to be done in order because two threads race. What one thread can show, the fuzzer does, but
// for what it doesn't come to.

#include "keyval/registry.h"
#include "platform/thread.h"
#include "tests/model/objects.h"

namespace attrcache::model {
namespace {

// With more than one stripe.
template <unsigned kStripes>
struct Striped : Objects {
  Striped() : Objects(kStripes) {}
};

// ---- What threads do ----

constexpr auto key(Copy copy, Delete del) {
  return [=](Objects& o) { o.key(copy, del); };
}
// Keyvals with DUP_FN.
constexpr auto keys(int count) {
  return [=](Objects& o) { o.keys_up_to(count, Copy::kDup, Delete::kNoDeleteFn); };
}
constexpr auto set(int k, intptr_t value, int object = 0) {
  return [=](Objects& o) { o.set(k, value, object); };
}
constexpr auto erase(int k) {
  return [=](Objects& o) { o.erase(k); };
}
constexpr auto free_key(int k) {
  return [=](Objects& o) { o.free_key(k); };
}
constexpr auto copy = [](Objects& o) { expect(o.copy() == ATTRCACHE_OK, "the dup succeeds"); };
constexpr auto free(int object) {
  return [=](Objects& o) {
    expect(o.erase_all(object, o.kind) == ATTRCACHE_OK, "the object is freed");
  };
}
// The copy's value under a keyval is the one given; or there may be none.
constexpr auto copied(int k, intptr_t value) {
  return [=](Objects& o) { expect(o.value(1, k) == value, "it is copied"); };
}
constexpr auto perhaps_copied(int k, intptr_t value) {
  return [=](Objects& o) {
    expect(o.value(1, k) == value || o.value(1, k) == 0, "it is copied, or not");
  };
}

// ---- Dup ----

// What is attached at every instant is copied: a set without delete_fn replaces a value in one
// step, which is no deletion, and must not make copy_all miss the attribute.
constexpr auto copied_any = [](Objects& o) {
  expect(o.value(1, 0) >= 1 && o.value(1, 0) <= 3, "one of its values is copied");
};
TEST(Dup, FindsWhatIsReplacedMeanwhile) {
  run_race<Objects>({2, 1}, in_turn(keys(1), set(0, 1)), in_turn(set(0, 2), set(0, 3)),
                    in_turn(copy, copied_any));
}
// The same though callbacks run. (The walk in the order of setting.)
TEST(Dup, ByCallbackFindsWhatIsReplaced) {
  const auto key_with_copy_fn = key(Copy::kCalled, Delete::kNoDeleteFn);
  run_race<Objects>({2, 1}, in_turn(keys(1), key_with_copy_fn, set(0, 1), set(1, 9)),
                    in_turn(set(0, 2), set(0, 3)), in_turn(copy, copied_any));
}
// And where a delete_fn runs, and fails or not.
TEST(Dup, FindsWhatASetWithDeleteFnReplaces) {
  for (const int failures : {0, 1}) {
    const auto fails = [failures](Objects& o) { o.failures = failures; };
    const auto try_to_set = [](Objects& o) {
      attrcache_set_as(o.kind, &o.tables[0], nullptr, o.keys[0], 2, ATTRCACHE_AS_POINTER, nullptr);
    };
    run_race<Objects>({2, 1}, in_turn(key(Copy::kDup, Delete::kCalled), set(0, 1), fails),
                      try_to_set, in_turn(copy, copied_any));
  }
}

// A copy has the tag that its value was set with.
TEST(Dup, BesideASetWithAnotherTag) {
  const auto set_aint = [](Objects& o) {
    attrcache_set_as(o.kind, &o.tables[0], nullptr, o.keys[0], 2, ATTRCACHE_AS_AINT, nullptr);
  };
  const auto as_it_was_set = [](Objects& o) {
    void* value;
    expect(attrcache_get(o.kind, &o.tables[1], o.keys[0], &value) == ATTRCACHE_OK &&
               value != reinterpret_cast<void*>(2),
           "C finds an Aint at an address");
  };
  run_race<Objects>({2, 1}, in_turn(keys(1), set(0, 1)), set_aint, in_turn(copy, as_it_was_set));
}

// A copy has a reference of its own, which the end of the original doesn't touch.
TEST(Dup, AgainstDelete) {
  run_race<Objects>({2, 1}, in_turn(keys(2), set(0, 1), set(1, 2)), erase(0),
                    in_turn(copy, perhaps_copied(0, 1), copied(1, 2)));
}
// The keyval lives as long as the copy, even if it is freed meanwhile.
TEST(Dup, AgainstFreeKeyval) {
  const auto attached = in_turn(keys(1), set(0, 1));
  run_race<Striped<2>>({2, 1}, attached, free_key(0), in_turn(copy, copied(0, 1)));
  run_race<Striped<2>>({2, 1}, attached, in_turn(free_key(0), erase(0)),
                       in_turn(copy, perhaps_copied(0, 1)));
}
// The old object gets its directory meanwhile, or another leaf.
void dup_against_growth(int there, int comes) {
  run_race<Objects>({2, 1}, in_turn(keys(comes + 1), set(there, 1)), set(comes, 4),
                    in_turn(copy, copied(there, 1), perhaps_copied(comes, 4)));
}
TEST(Dup, AgainstGrowth) { dup_against_growth(0, 3); }
TEST(Dup, AgainstAnotherLeaf) { dup_against_growth(9, 17); }
// Two attributes, in two runs of slots, are deleted just after the dup has taken references on
// their keyvals: both are dropped again.
TEST(Dup, DropsReferencesTakenInVain) {
  run_race<Objects>({3, 0}, in_turn(keys(5), set(0, 1), set(4, 2)), in_turn(erase(0), erase(4)),
                    copy);
}

// Also if the copied attribute was set while the copy was under way.
TEST(Dup, CopiesAreOlderThoughSetMeanwhile) {
  const auto set_and_free = [](Objects& o) {
    o.set(0, 2, 1);
    const bool copied = o.value(1, 1) != 0;
    expect(o.erase_all(1, o.kind) == ATTRCACHE_OK, "freed");
    expect(o.deletions == (copied ? 2 : 1) && o.deleted[0] == 2, "the youngest first");
  };
  const auto with_delete_fn = key(Copy::kDup, Delete::kCalled);
  // The third attribute is there so that there is something to copy in any case.
  run_race<Objects>({2, 1}, in_turn(with_delete_fn, with_delete_fn, keys(3), set(2, 3)), set(1, 1),
                    in_turn(copy, set_and_free));
}

// A value whose delete_fn runs isn't copied, and neither is its deletion mark.
TEST(Dup, CopyAgainstDelete) {
  run_model({2, 1}, [] {
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
    o.finish();
    expect(o.times_deleted(1) == 2, "both");
    expect(o.times_deleted(2) == (copied ? 2 : 1), "as often as attached");
  });
}

// A dup that begins again drops the last reference on a keyval, whose destructor frees the old
// object, the new one, or both.
TEST(Dup, GivenUpCopyEndsKeyval) {
  enum : int { kOld = 1, kNew = 2, kHappened = 4 };
  for (const int freed : {int{kOld}, int{kNew}, kOld | kNew}) {
    run_model({2, 1}, [=] {
      Objects o;
      o.keys_up_to(2, Copy::kDup, Delete::kNoDeleteFn);
      o.key(Copy::kCalled, Delete::kNoDeleteFn);
      for (const int k : {0, 1, 2}) o.set(k, k + 1);
      o.older_seen = freed;
      o.on_destroy = [](Objects& objects) {
        if (thread_ordinal() != objects.copier) return;
        if ((objects.older_seen & kOld) != 0) objects.erase_all(0, objects.kind);
        if ((objects.older_seen & kNew) != 0) objects.erase_all(1, objects.kind);
        objects.older_seen |= kHappened;
      };
      spawn([&o] {
        o.erase(0);
        o.free_key(0);
      });
      spawn([&o] {
        o.copier = thread_ordinal();
        const int result = o.copy();
        o.copier = 0;
        const bool happened = (o.older_seen & kHappened) != 0;
        expect(result == (happened ? ATTRCACHE_ERR_FREED : ATTRCACHE_OK), "noticed");
        expect(!happened || o.is_as_new(1), "nothing is left");
      });
      join();
      o.on_destroy = nullptr;
      o.finish();
    });
  }
}

// The destructor of such a keyval finds the new object as it was, and what it sets there is replaced
// by the copy.
TEST(Dup, GivenUpCopyEndsKeyvalWhoseDestructorLooks) {
  run_model({2, 1}, [] {
    Objects o;
    o.keys_up_to(2, Copy::kDup, Delete::kCalled);
    o.key(Copy::kCalled, Delete::kNoDeleteFn);
    for (const int k : {0, 1, 2}) o.set(k, k + 1);
    o.on_destroy = [](Objects& objects) {
      if (thread_ordinal() != objects.copier) return;
      reaches("within the dup", true);
      expect(objects.value(1, 0) == 0 && objects.value(1, 1) == 0, "nothing is there yet");
      objects.set(1, 7, 1);
    };
    spawn([&o] {
      o.erase(0);
      o.free_key(0);
    });
    spawn([&o] {
      o.copier = thread_ordinal();
      expect(o.copy() == ATTRCACHE_OK, "copied");
      o.copier = 0;
    });
    join();
    o.on_destroy = nullptr;
    expect(o.value(1, 1) == 2 && o.value(1, 2) == 3 + Objects::kCopied, "copies");
    o.finish();
  });
}

// A dup reads a value, then sleeps while its keyval ends and the index is used again.
TEST(Dup, CopyAgainstReuseOfTheIndex) {
  run_model({1, 2}, [] {
    Objects o;
    o.key(Copy::kDup, Delete::kNoDeleteFn);
    o.set(0, 1);
    int again = 0;
    spawn([&o] { expect(o.copy() == ATTRCACHE_OK, "copied"); });
    spawn([&] {
      o.free_key(0);
      o.erase(0);
      // Without the others' destructor, which the copying thread may be running at the same time.
      attrcache_callbacks callbacks = {};
      callbacks.copy_fn = ATTRCACHE_DUP_FN;
      again = create_at(o.kind, 0, &callbacks);
    });
    join();
    reaches("reused", again != 0);
    if (again != 0) {
      expect(o.is_as_new(1), "the value was gone");
      expect(o.attributes() == 0, "and the new keyval has none");
    }
    o.finish();
  });
}

// ---- Free ----

// Two objects are freed, in one pass each, and so is the keyval of their attributes: it ends, once.
TEST(Free, AgainstFreeAndFreeKeyval) {
  const auto two = in_turn(keys(1), set(0, 1), copy);
  run_race<Striped<1>>({2, 2}, two, free(0), free(1), free_key(0));
  run_race<Striped<2>>({2, 2}, two, free(0), free(1), free_key(0));
}
// The free has emptied one slot when it finds that the next one's keyval was freed meanwhile.
TEST(Free, OfTwoAgainstFreeKeyval) {
  run_race<Objects>({2, 1}, in_turn(keys(2), set(0, 1), set(1, 2), set(0, 3, 1)), free(0),
                    free_key(1));
}

// ---- Alone ----

// Calls with another kind than the object's, whose keyvals have the same indices; or which has none.
void calls_with_another_kind(Copy type, bool has_keyvals) {
  run_model({}, [=] {
    Objects o;
    o.key(type, Delete::kNoDeleteFn);
    if (has_keyvals) o.make(type, Delete::kNoDeleteFn, o.other);
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
    o.finish();
  });
}
TEST(OneThread, CallsWithAnotherKind) {
  for (const Copy type : {Copy::kDup, Copy::kNot}) {
    for (const bool has_keyvals : {true, false}) calls_with_another_kind(type, has_keyvals);
  }
}

TEST(OneThread, NothingIsCopied) {
  for (const int far : {4, 10}) {
    run_model({}, [=] {
      Objects o;
      o.keys_up_to(far + 1, Copy::kNot, Delete::kCalled);
      for (const int k : {far - 1, far}) o.set(k, k + 1);
      expect(o.copy() == ATTRCACHE_OK && o.is_as_new(1), "the new table is as new");
      o.finish();
    });
  }
}

// A set's own delete_fn ends the object. That deletes the value that the set has attached, and the
// set returns OK; otherwise its caller would delete the value once more. Nor does the set touch
// what delete_fn has attached to the same memory since.
TEST(OneThread, FreeWithinTheDeleteFnOfASet) {
  for (const int failures : {0, 1}) {
    run_model({}, [=] {
      Objects o;
      o.key(Copy::kNot, Delete::kCalled);
      o.set(0, 1);
      o.on_delete = [=](Objects& self, intptr_t value) {
        if (value != 1) return;
        expect(self.erase_all(0, self.kind) == ATTRCACHE_OK && self.times_deleted(2) == 1, "freed");
        self.set(0, 3);
        self.set(0, 2);  // with the same number as before
        self.failures = failures;
      };
      o.set(0, 2);
      expect(o.erase_all(0, o.kind) == ATTRCACHE_OK && o.times_deleted(2) == 2,
             "the new value was attached");
      expect(o.times_deleted(1) == 1 - failures && o.times_deleted(3) == 1, "each once");
      o.finish();
    });
  }
}

}  // namespace
}  // namespace attrcache::model
