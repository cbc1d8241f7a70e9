// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Keyvals that are freed while other threads use them.

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "tests/model/explorer/plain.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// Once with all threads on one stripe of the references, once with each on its own.
class FreeKeyval : public ::testing::TestWithParam<unsigned> {
 protected:
  template <typename Threads>
  void run(Bound bound, Threads threads) {
    run_with_fixture(bound, threads, GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(Stripes, FreeKeyval, ::testing::Values(1u, 2u));

TEST_P(FreeKeyval, AgainstSet) {
  run({}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    spawn([&f] { f.set(0, 0, 1); });
    spawn([&f] { f.free(0); });
  });
}

TEST_P(FreeKeyval, AgainstReplacingSet) {
  run({}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.free(0); });
  });
}

TEST_P(FreeKeyval, AgainstDelete) {
  run({}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.free(0); });
  });
}

TEST_P(FreeKeyval, AgainstQuickDeleteAndSet) {
  run({2, 2}, [](Fixture& f) {
    f.make_key(Fixture::kNone);
    f.set(0, 0, 1);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.free(0); });
  });
}

TEST_P(FreeKeyval, AgainstSetAndDelete) {
  run({2, 2}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.free(0); });
  });
}

TEST_P(FreeKeyval, AgainstSetThenDelete) {
  run({}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    spawn([&f] {
      f.set(0, 0, 1);
      f.erase(0, 0);
    });
    spawn([&f] { f.free(0); });
  });
}

TEST_P(FreeKeyval, AgainstItself) {
  run({}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { f.free(0); });
    spawn([&f] {
      f.free(0);
      f.erase(0, 0);
    });
  });
}

// The same of one that was never used: the exact count decides which of them ends it.
TEST_P(FreeKeyval, AgainstItselfUnused) {
  run({}, [](Fixture& f) {
    f.make_key(Fixture::kDelete, Fixture::Stripes::kNotOpen);
    for (int t = 0; t < 2; ++t) spawn([&f] { f.free(0); });
  });
}

TEST_P(FreeKeyval, AgainstAttributesOfTwoObjects) {
  run({2, 2}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.set(1, 0, 2);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.erase(1, 0); });
    spawn([&f] { f.free(0); });
  });
}

TEST_P(FreeKeyval, AgainstGet) {
  run({}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] {
      f.free(0);
      f.erase(0, 0);
    });
    spawn([&f] {
      f.get(0, 0);
      f.get(0, 0);
    });
  });
}

TEST_P(FreeKeyval, LeavesNoNameBehind) {
  run({}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] {
      f.free(0);
      f.erase(0, 0);
      auto& registry = *reinterpret_cast<Registry*>(f.kind());
      for (unsigned ordinal = 0; ordinal < 2; ++ordinal) {
        const References::Counter& stripe = registry.first_chunk_counters(ordinal)[0];
        expect(!References::is_named(stripe), "who finds it asks what is true now");
      }
    });
    spawn([&f] { f.get(0, 0); });
  });
}

// Threads that attach and delete under a keyval for the first time, all at once.
TEST_P(FreeKeyval, AgainstFirstUses) {
  run({2, 1}, [](Fixture& f) {
    f.make_key(Fixture::kNone, Fixture::Stripes::kNotOpen);
    spawn([&f] {
      f.set(0, 0, 1);
      f.erase(0, 0);
    });
    spawn([&f] {
      f.set(1, 0, 2);
      f.erase(1, 0);
    });
    spawn([&f] { f.free(0); });
  });
}

// Readers of records under a pin: introspection against the end of the keyval.
TEST_P(FreeKeyval, AgainstIntrospection) {
  run({2, 2}, [](Fixture& f) {
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    const auto look = [&f] {
      auto& registry = *reinterpret_cast<Registry*>(f.kind());
      registry.for_each([&f](uint64_t word, const Record& record, const References& references) {
        touch(&record);
        expect(static_cast<int>(word & entry_word::kKeyval) == f.keys[0].keyval, "its number");
        expect(record.callbacks.extra_state == &f.keys[0], "its own record");
        expect(references.count() <= 1, "its references");
      });
    };
    spawn(look);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { f.free(0); });
  });
}

}  // namespace
}  // namespace attrcache::model
