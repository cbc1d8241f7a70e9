// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Callbacks that a keyval is given after it was made, beside those who list keyvals, and beside those
// who use it against the rules: these get wrong answers at most.

#include "keyval/registry.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

struct Kind {
  explicit Kind(unsigned stripes = 1) : registry(0, options, stripes, epoch, threads) {
    expect(registry.create(callbacks(1), &keyval) == ATTRCACHE_OK,
           "made");
  }
  Epoch epoch{1};
  attrcache_kind_options options = {};
  const Threads threads{attrcache_thread_hooks{}};
  Registry registry;
  int keyval = 0;

  static attrcache_callbacks callbacks(uintptr_t number) {
    attrcache_callbacks c = {};
    c.extra_state = reinterpret_cast<void*>(number);
    c.context = c.extra_state;
    if (number == 2) c.copy_fn = ATTRCACHE_DUP_FN;
    return c;
  }
  int change(uintptr_t number) {
    return registry.set_callbacks(static_cast<uint32_t>(keyval), callbacks(number));
  }
  int free() {
    int variable = keyval;
    return registry.free(&variable);
  }
  void finish() {
    registry.free_unused();
    expect(registry.counts().gone == 1, "the keyval has ended");
    expect(epoch.waiting() == 0, "nothing waits when nobody is pinned");
  }
};

TEST(SetCallbacks, AgainstIntrospection) {
  int seen[4] = {};
  run_model({3, 2}, [&] {
    Kind k;
    spawn([&] {
      expect(k.change(2) == ATTRCACHE_OK, "changed");
      expect(k.change(3) == ATTRCACHE_OK, "and again");
    });
    spawn([&] {
      const auto look = [&](uint64_t, const Record& record, const References& references) {
        const attrcache_callbacks& now = record.callbacks.functions;
        const auto number = reinterpret_cast<uintptr_t>(now.extra_state);
        references.count();  // others may go on meanwhile
        touch(&record);
        expect(reinterpret_cast<uintptr_t>(now.context) == number, "the one or the other");
        ++seen[number];
      };
      k.registry.visit(static_cast<uint32_t>(k.keyval), look);
    });
    join();
    k.finish();
  });
  for (int number = 1; number <= 3; ++number) EXPECT_GT(seen[number], 0);
}

TEST(SetCallbacks, AgainstAFreeThatIsAgainstTheRules) {
  int refused = 0;
  run_model({3, 2}, [&] {
    Kind k;
    spawn([&] {
      const int result = k.change(2);
      refused += result != ATTRCACHE_OK;
    });
    spawn([&] { expect(k.free() == ATTRCACHE_OK, "freed"); });
    join();
    k.finish();
  });
  EXPECT_GT(refused, 0);
}

// The names of the stripes, which set and dup go by, are in the end those of one or the other.
TEST(SetCallbacks, TwiceAtOnceAgainstTheRules) {
  run_model({3, 2}, [&] {
    Kind k;
    const auto keyval = static_cast<uint32_t>(k.keyval);
    for (const uintptr_t number : {2, 3}) {
      spawn([&k, number] { k.change(number); });
    }
    join();
    const uint64_t word = k.registry.look_up(keyval);
    const auto name = static_cast<uint32_t>(k.registry.first_chunk_counters(0)[0].load(kRelaxed));
    expect((name & stripe::kFlags) == (word >> entry_word::kFlagsShift & stripe::kFlags),
           "as the word says");
    k.free();
    k.finish();
  });
}

// The same of two who don't see each other, because each counts on a stripe of its own. The second
// retires the record that the first has just made.
TEST(SetCallbacks, TwiceAtOnceOnTwoStripesAgainstTheRules) {
  int both = 0;
  run_model({2, 2}, [&] {
    Kind k(2);
    int succeeded = 0;
    for (const uintptr_t number : {2, 3}) {
      spawn([&k, &succeeded, number] {
        k.registry.name_stripe(static_cast<uint32_t>(k.keyval));
        succeeded += k.change(number) == ATTRCACHE_OK;
      });
    }
    join();
    both += succeeded == 2;
    k.free();
    k.finish();
  });
  EXPECT_GT(both, 0);
}

// The same where a stripe is opened meanwhile, by somebody who attaches something.
TEST(SetCallbacks, AgainstTheFirstUseOfAStripeAgainstTheRules) {
  run_model({3, 2}, [&] {
    Kind k;
    const auto keyval = static_cast<uint32_t>(k.keyval);
    spawn([&k] { k.change(2); });
    spawn([&k, keyval] {
      if (k.registry.acquire(keyval)) k.registry.drop(keyval);
    });
    join();
    const uint64_t word = k.registry.look_up(keyval);
    const auto name = static_cast<uint32_t>(k.registry.first_chunk_counters(0)[0].load(kRelaxed));
    expect((name & stripe::kFlags) == (word >> entry_word::kFlagsShift & stripe::kFlags),
           "as the word says");
    k.free();
    k.finish();
  });
}

}  // namespace
}  // namespace attrcache::model
