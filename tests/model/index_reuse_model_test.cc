// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Indices of a kind that is nearly full: threads that look at a keyval, or open a stripe of it,
// meet the next keyval of its index.

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// All indices of a kind but one are in use, so that any other comes round as soon as it is free. A
// keyval's extra_state is its number, which is known beforehand since only one thread creates.
struct FullRegistry {
  Epoch epoch;
  attrcache_kind_options options = {};
  const Threads threads{attrcache_thread_hooks{}};
  Readers readers{threads, Memory(), false};
  Registry registry;

  explicit FullRegistry(unsigned stripes = 1) : registry(0, options, stripes, epoch, readers) {
    for (uint32_t i = 0; i < Registry::kCapacity; ++i) create(id::make(0, 0, i));
    free(id::make(0, 0, 1));
  }
  void finish() {
    registry.free_unused();
    expect(epoch.waiting() == 0, "nothing waits when nobody is pinned");
  }
  bool create(id::Keyval expected) {
    const attrcache_callbacks callbacks = {sizeof(attrcache_callbacks),
                                           ATTRCACHE_C,
                                           nullptr,
                                           nullptr,
                                           reinterpret_cast<void*>(uintptr_t{id::bits(expected)}),
                                           nullptr,
                                           nullptr,
                                           nullptr};
    int keyval;
    if (registry.create(callbacks, &keyval) != ATTRCACHE_OK) return false;
    expect(id::of(keyval) == expected, "indices are first in, first out");
    return true;
  }
  void free(id::Keyval keyval) {
    auto variable = static_cast<int>(keyval);
    expect(registry.free(&variable) == ATTRCACHE_OK, "freed");
  }
  void look(id::Keyval keyval, int* seen) {
    const auto is_its_own = [seen](uint64_t word, const Record& record, const References& r) {
      const auto number = reinterpret_cast<uintptr_t>(record.callbacks.extra_state);
      expect(number == (word & entry_word::kKeyval), "the record of the keyval that was found");
      r.count();
      touch(&record);
      expect(number == reinterpret_cast<uintptr_t>(record.callbacks.extra_state),
             "a record stays as it is as long as somebody looks at it");
      ++*seen;
    };
    registry.visit(keyval, is_its_own);
  }
};

// The index under the eyes of a reader is freed, used for a second keyval, and for a third.
TEST(Keyval, IntrospectionAgainstTheNextKeyvalsOfAnIndex) {
  int seen = 0;
  run_model({2, 2}, [&seen] {
    FullRegistry f;
    spawn([&f, &seen] {
      f.look(id::make(0, 0, 0), &seen);
      f.look(id::make(0, 1, 0), &seen);
    });
    spawn([&f] {
      for (unsigned generation = 0; generation < 2; ++generation) {
        f.free(id::make(0, generation, 0));
        expect(f.create(id::make(0, generation + 1, 1)), "the oldest free index");
        f.free(id::make(0, generation + 1, 1));
        expect(f.create(id::make(0, generation + 1, 0)), "the index that is looked at");
      }
    });
    join();
    f.finish();
  });
  EXPECT_GT(seen, 10);
}

// The same where one thread frees and another creates.
TEST(Keyval, IntrospectionAgainstFreeAndCreateOfAnIndex) {
  int created = 0;
  run_model({2, 1}, [&created] {
    FullRegistry f;
    int seen = 0;
    spawn([&f, &seen] {
      f.look(id::make(0, 0, 0), &seen);
      f.look(id::make(0, 1, 0), &seen);
    });
    spawn([&f] {
      f.free(id::make(0, 0, 0));
      f.free(id::make(0, 0, 2));
    });
    spawn([&f, &created] {
      if (!f.create(id::make(0, 1, 1))) return;
      if (f.create(id::make(0, 1, 0))) ++created;
    });
    join();
    f.finish();
  });
  EXPECT_GT(created, 10);
}

// The same where the index comes round while the free of its keyval is still under way: the last
// index in the queue can't be taken, so the thread that creates puts another one behind it.
TEST(Keyval, IntrospectionAgainstCreateWithinTheFreeOfAnIndex) {
  int created = 0;
  run_model({2, 0}, [&created] {
    FullRegistry f;
    int seen = 0;
    spawn([&f, &seen] { f.look(id::make(0, 0, 0), &seen); });
    spawn([&f] { f.free(id::make(0, 0, 0)); });
    spawn([&f, &created] {
      f.free(id::make(0, 0, 2));
      if (!f.create(id::make(0, 1, 1))) return;
      // This one has index 0, unless index 2 was freed before it.
      const attrcache_callbacks callbacks = {};
      int keyval;
      if (f.registry.create(callbacks, &keyval) == ATTRCACHE_OK) ++created;
    });
    join();
    f.finish();
  });
  EXPECT_GT(created, 10);
}

// A thread that opens a stripe, so as to take a reference or to drop one, is overtaken by the end
// of the keyval, and by the next keyval of the index, whose stripes it must not open under the old
// name.
TEST(Keyval, TheFirstUseOfAStripeAgainstTheNextKeyvalOfTheIndex) {
  constexpr id::Keyval kFirst = id::make(0, 0, 0), kNext = id::make(0, 1, 0);
  for (const bool held : {false, true}) {
    int overtaken = 0;
    run_model({3, 2}, [held, &overtaken] {
      FullRegistry f(2);
      if (held) expect(f.registry.acquire(kFirst), "a value");
      bool made = false;
      const auto user = [&f, held] {
        if (held || f.registry.acquire(kFirst)) f.registry.drop(kFirst);
      };
      const auto owner = [&f, &made] {
        f.free(kFirst);
        if (f.registry.look_up(kFirst) != 0) return;
        if (!f.create(id::make(0, 1, 1))) return;  // the first one's index isn't free yet
        f.free(id::make(0, 1, 1));
        made = f.create(kNext);
      };
      // The first thread has the program's stripe, so the user's isn't open yet.
      spawn(owner);
      spawn(user);
      join();
      for (unsigned ordinal = 0; made && ordinal < 2; ++ordinal) {
        References::Counter& stripe = f.registry.first_chunk_counters(ordinal)[0];
        expect(!References::is_open(stripe), "nobody has used the next one yet");
        expect(!References::acquire_in(stripe, kFirst), "the first one is gone");
      }
      if (made) expect(!f.registry.acquire(kFirst), "the first one is gone");
      overtaken += made;
      f.finish();
    });
    EXPECT_GT(overtaken, 10);
  }
}

}  // namespace
}  // namespace attrcache::model
