// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Callbacks that a keyval is given after it was made, beside those who list keyvals.

#include "keyval/registry.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

struct Kind {
  explicit Kind(unsigned stripes = 1) : registry(0, options, stripes, epoch, readers) {
    expect(registry.create(callbacks(1), &keyval) == ATTRCACHE_OK, "made");
  }
  Epoch epoch;
  attrcache_kind_options options = {};
  const Threads threads{attrcache_thread_hooks{}};
  Readers readers{threads, Memory(), false};
  Registry registry;
  int keyval = 0;

  static attrcache_callbacks callbacks(uintptr_t number) {
    attrcache_callbacks c = {};
    c.extra_state = reinterpret_cast<void*>(number);
    c.context = c.extra_state;
    if (number == 2) c.copy_fn = ATTRCACHE_DUP_FN;
    return c;
  }
  int change(uintptr_t number) { return registry.set_callbacks(id::of(keyval), callbacks(number)); }
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
    Atomic<int> changed{0};
    spawn([&] {
      expect(k.change(2) == ATTRCACHE_OK, "changed");
      changed.store(1, kRelaxed);
      expect(k.change(3) == ATTRCACHE_OK, "and again");
    });
    spawn([&] {
      const auto look = [&](uint64_t, const Record& record, const References&) {
        const attrcache_callbacks& now = record.callbacks;
        const auto number = reinterpret_cast<uintptr_t>(now.extra_state);
        changed.load(kRelaxed);  // others may go on meanwhile
        touch(&record);
        expect(reinterpret_cast<uintptr_t>(now.context) == number, "the one or the other");
        ++seen[number];
      };
      k.registry.visit(id::of(k.keyval), look);
    });
    join();
    k.finish();
  });
  for (int number = 1; number <= 3; ++number) EXPECT_GT(seen[number], 0);
}

}  // namespace
}  // namespace attrcache::model
