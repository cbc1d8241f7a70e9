// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Dup and free at once (lib/table/dup.cc, free.cc) against set, delete and free_keyval, and what is
// left to be done in order because two threads race. at_once_model_test.cc tests what one thread
// can show.

#include "keyval/registry.h"
#include "platform/thread.h"
#include "tests/model/objects.h"

namespace attrcache::model {
namespace {

// Keyvals with DUP_FN, and calls that succeed.
struct Dup : Objects {
  explicit Dup(int keyvals, unsigned stripes = 1) : Objects(stripes) {
    keys_up_to(keyvals, Copy::kDup, Delete::kNoDeleteFn);
  }
  void copy() { expect(Objects::copy() == ATTRCACHE_OK, "the dup succeeds"); }
  // The new object's value under a keyval, or 0 for none or a keyval that is gone.
  intptr_t copied(int k) { return value(1, k); }
  void free(int object) { expect(erase_all(object, kind) == ATTRCACHE_OK, "the object is freed"); }
};

// What is attached at every instant is copied: a set without delete_fn replaces a value in one
// step, which is no deletion, and must not make copy_all miss the attribute.
TEST(Dup, FindsWhatIsReplacedMeanwhile) {
  run_model({2, 1}, [] {
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

// A copy has a reference of its own, which the end of the original doesn't touch.
TEST(Dup, AgainstDelete) {
  run_model({2, 1}, [] {
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

// The keyval lives as long as the copy, even if it is freed meanwhile.
TEST(Dup, AgainstFreeKeyval) {
  for (const bool erase : {false, true}) {
    run_model({2, 1}, [erase] {
      Dup d(1, 2);
      d.set(0, 1);
      spawn([&d, erase] {
        int keyval = d.keys[0];
        expect(attrcache_keyval_free(d.kind, &keyval) == ATTRCACHE_OK, "freed");
        if (erase) d.erase(0);
      });
      spawn([&d] { d.copy(); });
      join();
      expect(d.copied(0) == 1 || erase, "copied, since it was attached all the time");
      expect(d.attributes() == (erase ? 0u : 1u) + (d.copied(0) != 0 ? 1u : 0u),
             "as many references as attributes");
      d.end();
    });
  }
}

// Two objects are freed, in one pass each, and so is the keyval of their attributes: it ends, once.
TEST(Free, AgainstFreeAndFreeKeyval) {
  for (const unsigned stripes : {1u, 2u}) {
    run_model({2, 2}, [stripes] {
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
      expect(d.destroyed == 1, "the keyval is gone");
      d.end();
    });
  }
}

// The free has emptied one slot when it finds that the next one's keyval was freed meanwhile.
TEST(Free, OfTwoAgainstFreeKeyval) {
  run_model({2, 1}, [] {
    Dup d(2);
    d.set(0, 1);
    d.set(1, 2);
    d.set(0, 3, 1);
    spawn([&d] { d.free(0); });
    spawn([&d] { d.free_key(1); });
    join();
    expect(d.attributes() == 1, "each reference is dropped once");
    expect(d.destroyed == 1, "the keyval is gone");
    d.free(1);
    d.end();
  });
}

// The old object gets its directory meanwhile, or another leaf.
void dup_against_growth(int there, int comes) {
  run_model({2, 1}, [=] {
    Dup d(comes + 1);
    d.set(there, 1);
    spawn([&d, comes] { d.set(comes, 4); });
    spawn([&d] { d.copy(); });
    join();
    expect(d.copied(there) == 1, "what was attached before is copied");
    expect(d.copied(comes) == 0 || d.copied(comes) == 4, "what came meanwhile is copied or not");
    d.end();
  });
}
TEST(Dup, AgainstGrowth) { dup_against_growth(0, 3); }
TEST(Dup, AgainstAnotherLeaf) { dup_against_growth(9, 17); }

// Also if the copied attribute was set while the copy was under way.
TEST(AtOnce, CopiesAreOlderThoughSetMeanwhile) {
  run_model({2, 1}, [] {
    Objects o;
    o.keys_up_to(2, Copy::kDup, Delete::kCalled);
    o.key(Copy::kDup, Delete::kNoDeleteFn);
    o.set(2, 3);  // so that there is something to copy in any case
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

// A value whose delete_fn runs isn't copied, and neither is its deletion mark.
TEST(AtOnce, CopyAgainstDelete) {
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
    o.end();
    expect(o.times_deleted(1) == 2, "both");
    expect(o.times_deleted(2) == (copied ? 2 : 1), "as often as attached");
  });
}

// A dup that begins again drops the last reference on a keyval, whose destructor frees the old
// object, the new one, or both.
TEST(AtOnce, GivenUpCopyEndsKeyval) {
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
      if (o.older_seen == (kNew | kHappened))
        expect(o.attributes() == 2, "as many references as the old object has attributes");
      o.end();
    });
  }
}

// Two attributes, in two runs of slots, are deleted just after the dup has taken references on their
// keyvals: both are dropped again.
TEST(AtOnce, ReferencesTakenInVainAreDropped) {
  run_model({3, 0}, [] {
    Objects o;
    o.keys_up_to(5, Copy::kDup, Delete::kNoDeleteFn);
    o.set(0, 1);
    o.set(4, 2);
    spawn([&o] {
      o.erase(0);
      o.erase(4);
    });
    spawn([&o] { expect(o.copy() == ATTRCACHE_OK, "copied"); });
    join();
    expect(o.erase_all(1, o.kind) == ATTRCACHE_OK, "freed");
    expect(o.attributes() == 0, "no reference is left");
    o.end();
  });
}

// A free that returns OK finds no delete under way.
TEST(Free, BesideADelete) {
  run_model({2, 1}, [] {
    Objects o;
    o.key(Copy::kDup, Delete::kCalled);
    o.set(0, 1);
    static bool within;  // delete_fn
    within = false;
    o.on_delete = [](Objects& self, intptr_t) {
      within = true;
      self.value(0, 0);  // where the other thread may get its turn
      within = false;
    };
    spawn([&o] { o.erase(0); });
    spawn([&o] {
      const int result = o.erase_all(0, o.kind);
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY, "freed, or not yet");
      expect(result != ATTRCACHE_OK || !within, "nobody will touch the table any more");
    });
    join();
    o.on_delete = nullptr;
    o.end();
    expect(o.deletions == 1, "it is deleted once");
  });
}

// A value that is replaced again and again is attached at every instant, so dup finds it, though
// callbacks run. (The walk in the order of setting.)
TEST(AtOnce, CopyByCallbackFindsWhatIsReplaced) {
  run_model({2, 1}, [] {
    Objects o;
    o.key(Copy::kDup, Delete::kNoDeleteFn);
    o.key(Copy::kCalled, Delete::kNoDeleteFn);
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

// A dup reads a value, then sleeps while its keyval ends and the index is used again.
TEST(AtOnce, CopyAgainstReuseOfTheIndex) {
  int reused = 0;
  run_model({1, 2}, [&reused] {
    Objects o;
    o.key(Copy::kDup, Delete::kNoDeleteFn);
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
        // Without the others' destructor, which the copying thread may be running at the same time.
        attrcache_callbacks callbacks = {};
        callbacks.copy_fn = ATTRCACHE_DUP_FN;
        int keyval = 0;
        expect(attrcache_keyval_create(o.kind, &callbacks, &keyval) == ATTRCACHE_OK, "a keyval");
        if (id::index(id::of(keyval)) == 0) {
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
