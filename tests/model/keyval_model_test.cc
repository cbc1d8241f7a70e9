// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Keyvals that are created while others look, and ints that are used after their keyval is gone.

#include <utility>

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "table/dup_free.h"
#include "tests/model/objects.h"
#include "tests/model/race.h"

namespace attrcache::model {
namespace {

constexpr Setting kComplete = {.bound = {}};
constexpr auto create = [](Fixture& f) {
  f.make_key(Fixture::kDelete, Fixture::Stripes::kNotOpen);
};
// The number of the first keyval.
constexpr auto kGuessed = static_cast<int>(id::make(ATTRCACHE_COMMUNICATOR, 0, 0));
constexpr auto introspect = [](Fixture& f) {
  const auto look = [&f](uint64_t, const Record& record, const References& references) {
    touch(&record);
    expect(f.keys[0].extra.read() == 1, "what was written before create");
    expect(record.callbacks.extra_state == &f.keys[0], "its own record");
    expect(references.count() <= 1, "its references");
  };
  Registry::of(f.kind()).visit(id::of(kGuessed), look);
};

TEST(Keyval, TwoCreatesAreTwo) { race(kComplete, nothing, create, create); }
// The first keyval of a kind, seen by introspection and by a thread that guesses its number.
TEST(Keyval, FirstCreateAgainstIntrospectionAndUse) {
  const auto use_guessed = [](Fixture& f) {
    void* value;
    expect(attrcache_get(f.kind(), &f.table(0), kGuessed, &value) != ATTRCACHE_OK, "absent");
    attrcache_set_as(f.kind(), &f.table(1), nullptr, kGuessed,
                     reinterpret_cast<intptr_t>(&f.values[1]), ATTRCACHE_AS_POINTER, nullptr);
    attrcache_delete(f.kind(), &f.table(1), nullptr, kGuessed, nullptr);
  };
  race(kComplete, nothing, create, introspect, use_guessed);
}
// The same with an index that isn't new: only the word itself publishes what create has written.
TEST(Keyval, CreateOnAnOldIndexAgainstIntrospection) {
  const auto go_round = [](Fixture& f) {
    int keyval = 0;
    for (uint32_t i = 0; i < Registry::kRound; ++i) {
      attrcache_keyval_create(f.kind(), nullptr, &keyval);
      attrcache_keyval_free(f.kind(), &keyval);
    }
  };
  race(kComplete, go_round, create, introspect);
}
// A thread that guesses the number of a keyval that is just being created may free it, and then
// runs its destructor.
TEST(Keyval, FreeAgainstTheFirstCreate) {
  const auto free_guessed = [](Fixture& f) {
    int guessed = kGuessed;
    f.keys[0].freed = true;
    f.keys[0].freed = attrcache_keyval_free(f.kind(), &guessed) == ATTRCACHE_OK;
    reaches("freed", f.keys[0].freed);
  };
  race(kComplete, nothing, create, free_guessed);
}
// While a keyval is being created, the counters may count it as gone: it isn't there yet. But they
// never count more as existing than as created: the number of those gone would be negative.
TEST(Keyval, CountersAgainstCreate) {
  const auto count = [](Fixture& f) {
    attrcache_counters now = {};
    Registry::of(f.kind()).count(&now);
    expect(now.keyvals_created <= 1, "at most one");
    expect(now.keyvals_gone <= now.keyvals_created && now.keyvals_freed == now.keyvals_gone,
           "none or one");
    reaches("counted", now.keyvals_created == 1);
  };
  race(kComplete, nothing, create, count);
}

// A call has looked up its keyval, and sleeps while the keyval is freed and its index is used again
// for another keyval, which attaches a value in the same slot.
// `far`: the index is beyond those with a fast path, so calls take the long way throughout.
void race_with_reuse(void (*stale)(Fixture&), Fixture::Callbacks callbacks = Fixture::kDelete,
                     bool far = false) {
  run_model({1, 2, true}, [=] {
    Fixture f;
    int before;
    for (int i = 0; far && i < 64; ++i) attrcache_keyval_create(f.kind(), nullptr, &before);
    f.make_key(callbacks);
    f.set(0, 0, 1);
    int again = 0;
    spawn([&f, stale] { stale(f); });
    spawn([&f, &again] {
      if (f.keys[0].no_delete_fn) f.get_body(0, 0);  // the value isn't deleted
      f.free(0);
      f.erase(0, 0);
      again = create_at(f.kind(), id::index(id::of(f.keys[0].keyval)), nullptr);
      if (again == 0) return;
      expect(again != f.keys[0].keyval, "another generation");
      expect(attrcache_set_as(f.kind(), &f.table(0), nullptr, again, 77, ATTRCACHE_AS_POINTER,
                              nullptr) == ATTRCACHE_OK,
             "the new keyval's value is attached");
    });
    join();
    // Not if the stale call was early enough, and kept the old keyval alive.
    reaches("reused", again != 0);
    if (again != 0) {
      void* value = nullptr;
      expect(attrcache_get(f.kind(), &f.table(0), again, &value) == ATTRCACHE_OK &&
                 reinterpret_cast<intptr_t>(value) == 77,
             "the new keyval's value is still attached");
      expect(f.free(0) == ATTRCACHE_ERR_KEYVAL_STALE, "the old keyval is gone");
      expect(attrcache_delete(f.kind(), &f.table(0), nullptr, again, nullptr) == ATTRCACHE_OK,
             "and only its own keyval deletes it");
      expect(attrcache_keyval_free(f.kind(), &again) == ATTRCACHE_OK,
             "and the new keyval wasn't freed");
    }
    f.finish();
  });
}

TEST(Keyval, StaleSetAgainstReuseOfTheIndex) {
  race_with_reuse([](Fixture& f) {
    f.set(0, 0, 2);
    f.get(0, 0);
  });
}

// Without a delete_fn, a set may learn only from its failing swap of the slot that the keyval is
// gone. It then also knows that the value is detached, and may end it.
TEST(Keyval, StaleReplacementKnowsThatTheValueIsDetached) {
  race_with_reuse(
      [](Fixture& f) {
        const bool told = f.set(0, 0, 2) == ATTRCACHE_ERR_KEYVAL_STALE;
        reaches("told", told);
        if (told) f.values[1].body.write(1);
      },
      Fixture::kNone, true);
}

TEST(Keyval, StaleDeleteAgainstReuseOfTheIndex) {
  race_with_reuse([](Fixture& f) { f.erase(0, 0); });
}

TEST(Keyval, StaleFreeAgainstReuseOfTheIndex) {
  race_with_reuse([](Fixture& f) { f.free(0); });
}

// A record isn't used for the next keyval while a thread looks at it. (Here the entry's own record
// waits when its index is used again, which it doesn't in index_reuse_model_test.)
TEST(Keyval, IntrospectionAgainstReuseOfTheIndex) {
  race_with_reuse([](Fixture& f) {
    const auto look = [&f](uint64_t, const Record& record, const References& references) {
      references.count();
      expect(record.callbacks.extra_state == &f.keys[0], "still its own record");
    };
    Registry::of(f.kind()).visit(id::of(f.keys[0].keyval), look);
  });
}

// A set that came too late drops the last reference on a keyval, whose destructor frees the object,
// and releases its memory.
TEST(Keyval, SetWhoseKeyvalsEndFreesTheObject) {
  struct One : Objects {
    attrcache_table* table =
        static_cast<attrcache_table*>(kProcessMemory.allocate_zeroed(sizeof(attrcache_table)));
    int key() const { return keys[11]; }  // its slot is in a leaf
    int set(intptr_t value) {
      return attrcache_set_as(kind, table, nullptr, key(), value, ATTRCACHE_AS_POINTER, nullptr);
    }
    void free() {
      if (table == nullptr) return;
      attrcache_delete_all(kind, table, nullptr, ATTRCACHE_DRAIN, nullptr);
      kProcessMemory.release(std::exchange(table, nullptr));
    }
  };
  const auto set_if_absent = [](One& o) {
    attrcache_set_if_absent(o.kind, o.table, nullptr, o.key(), 7, ATTRCACHE_AS_POINTER, nullptr);
  };
  const auto set = [](One& o) { o.set(7); };
  const auto explore = [](auto op, Delete del, bool attached) {
    run_model({2, 0}, [=] {
      One o;
      o.keys_up_to(12, Copy::kNot, del);
      o.set(5);
      if (!attached) attrcache_delete(o.kind, o.table, nullptr, o.key(), nullptr);
      o.on_destroy = [&o](Objects&) {
        reaches("by the set", thread_ordinal() == o.copier);
        if (thread_ordinal() == o.copier) o.free();
      };
      spawn([&o, op] {
        o.copier = thread_ordinal();
        op(o);
      });
      spawn([&o, attached] {
        if (!attached) o.set(9);
        attrcache_delete(o.kind, o.table, nullptr, o.key(), nullptr);
        o.free_key(11);
      });
      join();
      o.on_destroy = nullptr;
      o.free();
      o.finish();
    });
  };
  explore(set_if_absent, Delete::kNoDeleteFn, false);
  explore(set, Delete::kNoDeleteFn, false);
  explore(set, Delete::kCalled, true);
}

// A keyval is unknown by the time its destructor runs.
TEST(Keyval, UnknownToItsDestructor) {
  run_model({}, [] {
    Objects o;
    o.key(Copy::kNot, Delete::kNoDeleteFn);
    o.on_destroy = [](Objects& self) {
      void* value;
      expect(attrcache_get(self.kind, &self.tables[0], self.keys[0], &value) ==
                 ATTRCACHE_ERR_KEYVAL_STALE,
             "gone");
    };
    o.free_key(0);
    expect(o.destroyed == 1, "its destructor has run");
    o.on_destroy = nullptr;
    o.finish();
  });
}

// A set, dup or delete sleeps while its keyval is freed, and until its int means another keyval,
// which has a delete_fn. What the call then attaches or deletes belongs to that keyval.
void against_the_int_coming_round(Copy copy, void (*sleeper)(Objects&)) {
  run_model({1, 0, true}, [=] {
    Objects o;
    o.key(copy, Delete::kNoDeleteFn);
    const int number = o.keys[0];
    o.set(0, 1);
    bool same = false;
    spawn([&o, sleeper] { sleeper(o); });
    spawn([&o, &same, number, copy] {
      o.erase(0);
      o.free_key(0);
      // As many indices as a round takes are used in turn.
      for (unsigned round = 0; round < (id::kGenerations + 1) * Registry::kRound && !same;
           ++round) {
        attrcache_callbacks callbacks = {};
        if (copy == Copy::kDup) callbacks.copy_fn = ATTRCACHE_DUP_FN;
        callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(&Objects::delete_fn);
        callbacks.extra_state = &o;
        int keyval;
        if (attrcache_keyval_create(o.kind, &callbacks, &keyval) != ATTRCACHE_OK) return;
        same = keyval == number;
        if (!same) attrcache_keyval_free(o.kind, &keyval);
      }
    });
    join();
    reaches("the same int", same);
    // Every value that is attached now, on either object, is deleted through the new delete_fn.
    int attached = 0;
    for (int object = 0; object < 2; ++object) {
      void* value;
      attached += attrcache_get(o.kind, &o.tables[object], number, &value) == ATTRCACHE_OK;
    }
    // A value that a dup had copied under the old keyval would have kept that keyval alive.
    if (same && copy == Copy::kDup)
      expect(attached == 0, "a value of the old keyval is not copied");
    o.deletions = 0;
    for (int object = 0; object < 2; ++object) {
      expect(attrcache_delete_all(o.kind, &o.tables[object], nullptr, ATTRCACHE_DRAIN, nullptr) ==
                 ATTRCACHE_OK,
             "freed");
    }
    if (same) expect(o.deletions == attached, "what is attached has the new delete_fn");
    attrcache_domain_destroy(o.domain, ATTRCACHE_DESTROY_ANYWAY, nullptr);
  });
}

TEST(Keyval, SetAgainstTheIntComingRound) {
  against_the_int_coming_round(Copy::kNot, [](Objects& o) {
    attrcache_set(o.kind, &o.tables[1], nullptr, o.keys[0], reinterpret_cast<void*>(7), nullptr);
  });
}

TEST(Keyval, DupAgainstTheIntComingRound) {
  against_the_int_coming_round(Copy::kDup, [](Objects& o) {
    attrcache_copy_all(o.kind, &o.tables[0], nullptr, &o.tables[1], nullptr, nullptr);
    void* value;
    if (attrcache_get(o.kind, &o.tables[1], o.keys[0], &value) == ATTRCACHE_OK) {
      expect(reinterpret_cast<intptr_t>(value) == 1, "a value that was attached");
    }
  });
}

TEST(Keyval, DupOneByOneAgainstTheIntComingRound) {
  against_the_int_coming_round(Copy::kDup, [](Objects& o) {
    auto& registry = Registry::of(o.kind);
    int code = 0;
    copy_attributes({registry, Table::of(&o.tables[0]), nullptr},
                    {registry, Table::of(&o.tables[1]), nullptr}, &code);
  });
}

}  // namespace
}  // namespace attrcache::model
