// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Some threads create and free keyvals while others set, delete and get attributes under them, and
// under ints whose keyvals are gone.

#include "tests/stress/storm.h"

namespace attrcache::support {
namespace {

constexpr int kRounds = 100000 / kSlowness;

// The extra_state of each keyval. It counts what happens at the keyval's end.
struct KeyvalLifetime {
  std::atomic<int> keyval{ATTRCACHE_KEYVAL_INVALID};
  std::atomic<int> attached{0};
  std::atomic<int> deletions_after_end{0};
  std::atomic<int> ends{0};
};

int lifetime_delete(void*, int, void* value, void* extra) {
  auto* lifetime = static_cast<KeyvalLifetime*>(extra);
  if (lifetime->ends != 0) ++lifetime->deletions_after_end;
  ++Ledger::at(value)->deleted;
  return 0;
}
void lifetime_end(void* extra, void*) { ++static_cast<KeyvalLifetime*>(extra)->ends; }

// Several threads keep replacing the keyvals in a few variables. All threads use whatever int they
// find there: its keyval may be alive, freed or gone.
TEST(KeyvalStorm, ChurnWithStaleCopies) {
  constexpr int kPlaces = 4;
  Ledger ledger;
  std::deque<KeyvalLifetime> lifetimes;
  std::mutex lifetimes_mutex;
  std::atomic<int> places[kPlaces] = {};
  Universe universe;
  attrcache_kind* kind = universe.kind();
  {
    Object a(kind), b(kind);
    run_threads(kThreads, [&](int t) {
      Random random(t);
      for (int i = 0; i < kRounds; ++i) {
        std::atomic<int>& place = places[random.below(kPlaces)];
        Object& object = random.below(2) == 0 ? a : b;
        const int keyval = place.load();
        const uint32_t choice = random.below(100);
        if (choice < 20) {
          KeyvalLifetime* lifetime;
          {
            std::lock_guard lock(lifetimes_mutex);
            lifetime = &lifetimes.emplace_back();
          }
          const int made = make_keyval(kind, nullptr, callback(lifetime_delete), lifetime,
                                       ATTRCACHE_C, &lifetime_end);
          int old = place.exchange(made);
          if (old != ATTRCACHE_KEYVAL_INVALID) {
            EXPECT_EQ(attrcache_keyval_free(kind, &old), ATTRCACHE_OK);
          }
        } else if (choice < 60) {
          const int result = set_new(ledger, object, keyval);
          EXPECT_TRUE(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_KEYVAL_STALE ||
                      result == ATTRCACHE_ERR_KEYVAL_INVALID)
              << result;
        } else if (choice < 85) {
          const int result = object.erase(keyval);
          EXPECT_TRUE(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_KEYVAL_STALE ||
                      result == ATTRCACHE_ERR_KEYVAL_INVALID)
              << result;
        } else {
          check_get(object, keyval);
        }
      }
    });
    for (std::atomic<int>& place : places) {
      int last = place;
      if (last != ATTRCACHE_KEYVAL_INVALID) {
        EXPECT_EQ(attrcache_keyval_free(kind, &last), ATTRCACHE_OK);
      }
    }
  }
  ledger.expect_all_accounted_for();
  for (const KeyvalLifetime& lifetime : lifetimes) {
    EXPECT_EQ(lifetime.ends, 1) << "each destructor ran exactly once";
    EXPECT_EQ(lifetime.deletions_after_end, 0);
  }
  const attrcache_counters counters = universe.counters();
  EXPECT_EQ(counters.attributes, 0u);
  EXPECT_EQ(counters.keyvals_created, lifetimes.size());
  EXPECT_EQ(counters.keyvals_freed, lifetimes.size());
  EXPECT_EQ(counters.keyvals_gone, lifetimes.size());
  EXPECT_EQ(counters.reclaimable, 0u);
}

}  // namespace
}  // namespace attrcache::support
