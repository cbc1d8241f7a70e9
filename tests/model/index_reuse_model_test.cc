// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Threads look at a keyval, or open a stripe of it, while the next keyval takes its index; threads
// list keyvals while one gets new callbacks.

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

struct OneKind {
  explicit OneKind(unsigned stripes = 1) : registry(0, options, stripes, epoch, readers) {}
  void finish() {
    registry.free_unused();
    expect(epoch.waiting() == 0, "nothing waits when nobody is pinned");
  }
  Epoch epoch;
  attrcache_kind_options options = {};
  const Threads threads{attrcache_thread_hooks{}};
  Readers readers{threads, Memory(), false};
  Registry registry;
};

// The first of two keyvals is alive, and the round of the cursor is over. A keyval's extra_state is
// its number, which is known beforehand since only one thread creates.
struct UsedRegistry : OneKind {
  explicit UsedRegistry(unsigned stripes = 1) : OneKind(stripes) {
    static_assert(Registry::kRound == 2);
    create(id::make(0, 0, 0));
    create(id::make(0, 0, 1));
    free(id::make(0, 0, 1));
  }
  // Makes keyvals until one has the index of the expected one. False: it isn't free yet.
  bool create(id::Keyval expected) {
    attrcache_callbacks callbacks = {};
    callbacks.extra_state = reinterpret_cast<void*>(uintptr_t{id::bits(expected)});
    for (uint32_t i = 0; i <= Registry::kRound; ++i) {
      int keyval;
      expect(registry.create(callbacks, &keyval) == ATTRCACHE_OK, "made");
      if (id::index(id::of(keyval)) == id::index(expected)) {
        expect(id::of(keyval) == expected, "the next generation");
        return true;
      }
      free(id::of(keyval));
    }
    return false;
  }
  void free(id::Keyval keyval) {
    auto variable = static_cast<int>(keyval);
    expect(registry.free(&variable) == ATTRCACHE_OK, "freed");
  }
  void look(id::Keyval keyval) {
    bool seen = false;
    const auto is_its_own = [&seen](uint64_t word, const Record& record, const References& r) {
      const auto number = reinterpret_cast<uintptr_t>(record.callbacks.extra_state);
      expect(number == (word & entry_word::kKeyval), "the record of the keyval that was found");
      r.count();
      touch(&record);
      expect(number == reinterpret_cast<uintptr_t>(record.callbacks.extra_state),
             "a record doesn't change while a thread looks at it");
      seen = true;
    };
    registry.visit(keyval, is_its_own);
    reaches("seen", seen);
  }
};

// ---- What threads do ----

constexpr auto look(unsigned generation) {
  return [=](UsedRegistry& f) { f.look(id::make(0, generation, 0)); };
}
constexpr auto free(unsigned generation, uint32_t index) {
  return [=](UsedRegistry& f) { f.free(id::make(0, generation, index)); };
}
// The index that readers look at is freed, and used for the next keyval.
constexpr auto use_again(unsigned generation) {
  return [=](UsedRegistry& f) {
    f.free(id::make(0, generation, 0));
    expect(f.create(id::make(0, generation + 1, 0)), "the index that is looked at");
  };
}

// The index that a reader looks at is used for a second keyval, and for a third.
TEST(Keyval, IntrospectionAgainstTheNextKeyvalsOfAnIndex) {
  run_race<UsedRegistry>({2, 2}, nothing, in_turn(look(0), look(1)),
                         in_turn(use_again(0), use_again(1)));
}
// The same where one thread frees and another creates.
TEST(Keyval, IntrospectionAgainstFreeAndCreateOfAnIndex) {
  const auto create = [](UsedRegistry& f) { reaches("used again", f.create(id::make(0, 1, 0))); };
  run_race<UsedRegistry>({2, 1}, nothing, in_turn(look(0), look(1)), free(0, 0), create);
}

// A thread opens a stripe, to take a reference or to drop one, and is overtaken by the end of the
// keyval and by the index's next keyval, whose stripes it must not open under the old name.
TEST(Keyval, TheFirstUseOfAStripeAgainstTheNextKeyvalOfTheIndex) {
  constexpr id::Keyval kFirst = id::make(0, 0, 0), kNext = id::make(0, 1, 0);
  for (const bool held : {false, true}) {
    run_model({3, 2}, [held] {
      UsedRegistry f(2);
      if (held) expect(f.registry.acquire(kFirst) != stripe::Name::kNone, "a value");
      bool made = false;
      const auto user = [&f, held] {
        if (held || f.registry.acquire(kFirst) != stripe::Name::kNone) f.registry.drop(kFirst);
      };
      const auto owner = [&f, &made] {
        f.free(kFirst);
        if (f.registry.look_up(kFirst) != 0) return;
        made = f.create(kNext);
      };
      // The first thread has the program's stripe, so the user's isn't open yet.
      spawn(owner);
      spawn(user);
      join();
      for (unsigned ordinal = 0; made && ordinal < 2; ++ordinal) {
        References::Counter& stripe = *f.registry.counters(id::slot_offset(kNext), ordinal);
        expect((stripe.load(kRelaxed) & stripe::kOpen) == 0, "the next keyval wasn't used yet");
      }
      if (made) expect(f.registry.acquire(kFirst) == stripe::Name::kNone, "the first one is gone");
      reaches("overtaken", made);
      f.finish();
    });
  }
}

// Callbacks that a keyval gets after it was created.
TEST(SetCallbacks, AgainstIntrospection) {
  run_model({3, 2}, [] {
    OneKind k;
    const auto callbacks = [](uintptr_t number) {
      attrcache_callbacks c = {};
      c.extra_state = c.context = reinterpret_cast<void*>(number);
      if (number == 2) c.copy_fn = ATTRCACHE_DUP_FN;
      return c;
    };
    int keyval = 0;
    expect(k.registry.create(callbacks(1), &keyval) == ATTRCACHE_OK, "made");
    Atomic<int> changed{0};
    spawn([&] {
      for (const uintptr_t number : {2, 3}) {
        expect(k.registry.set_callbacks(id::of(keyval), callbacks(number)) == ATTRCACHE_OK, "set");
        changed.store(1, kRelaxed);
      }
    });
    spawn([&] {
      const auto look = [&](uint64_t, const Record& record, const References&) {
        const attrcache_callbacks& now = record.callbacks;
        const auto number = reinterpret_cast<uintptr_t>(now.extra_state);
        changed.load(kRelaxed);  // others may go on meanwhile
        touch(&record);
        expect(reinterpret_cast<uintptr_t>(now.context) == number, "the old ones or the new ones");
        for (const uintptr_t n : {1, 2, 3}) reaches(std::to_string(n).c_str(), number == n);
      };
      k.registry.visit(id::of(keyval), look);
    });
    join();
    k.finish();
    attrcache_counters counters = {};
    k.registry.count(&counters);
    expect(counters.keyvals_gone == 1, "the keyval has ended");
  });
}

}  // namespace
}  // namespace attrcache::model
