// SPDX-License-Identifier: Apache-2.0
//
// Keyvals that are created and freed while others attach, delete, copy and read under them, also by
// stale copies of the ints.

#include "tests/stress/storm.h"

namespace attrcache::support {
namespace {

constexpr int kRounds = 100000 / kSlowness;

// A keyval's end, counted: extra_state of each keyval.
struct Life {
  std::atomic<int> keyval{ATTRCACHE_KEYVAL_INVALID};
  std::atomic<int> attached{0};
  std::atomic<int> deletions_after_end{0};
  std::atomic<int> ends{0};
};

int life_delete(void*, int, void* value, void* extra) {
  auto* life = static_cast<Life*>(extra);
  if (life->ends != 0) ++life->deletions_after_end;
  ++Ledger::at(value)->deleted;
  return 0;
}
void life_end(void* extra) { ++static_cast<Life*>(extra)->ends; }

// Several threads keep replacing the keyvals of a few places; all use whatever int they find there,
// which may be freed, or gone, or just being made.
TEST(KeyvalStorm, ChurnWithStaleCopies) {
  constexpr int kPlaces = 4;
  Ledger ledger;
  std::deque<Life> lives;
  std::mutex lives_mutex;
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
        const uint32_t dice = random.below(100);
        if (dice < 20) {
          Life* life;
          {
            std::lock_guard lock(lives_mutex);
            life = &lives.emplace_back();
          }
          const int made = make_keyval(kind, nullptr, callback(life_delete), life, &life_end);
          int old = place.exchange(made);
          if (old != ATTRCACHE_KEYVAL_INVALID) {
            EXPECT_EQ(attrcache_keyval_free(kind, &old), ATTRCACHE_OK);
          }
        } else if (dice < 60) {
          const int result = set_new(ledger, object, keyval);
          EXPECT_TRUE(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_KEYVAL_STALE ||
                      result == ATTRCACHE_ERR_KEYVAL_INVALID)
              << result;
        } else if (dice < 85) {
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
  for (const Life& life : lives) {
    EXPECT_EQ(life.ends, 1) << "each destructor ran exactly once";
    EXPECT_EQ(life.deletions_after_end, 0);
  }
  const attrcache_counters counters = universe.counters();
  EXPECT_EQ(counters.attributes, 0u);
  EXPECT_EQ(counters.keyvals_created, lives.size());
  EXPECT_EQ(counters.keyvals_freed, lives.size());
  EXPECT_EQ(counters.keyvals_gone, lives.size());
  EXPECT_EQ(counters.reclaimable, 0u);
}

// Each thread frees every keyval: one free counts, and the destructor runs once.
TEST(KeyvalStorm, ManyThreadsFreeTheSameKeyval) {
  std::deque<Life> lives(kRounds / 20);
  Universe universe;
  attrcache_kind* kind = universe.kind();
  Object objects[kThreads] = {Object(kind), Object(kind), Object(kind), Object(kind)};
  Ledger ledger;
  std::barrier<> step(kThreads);
  run_threads(kThreads, [&](int t) {
    for (Life& life : lives) {
      if (t == 0) {
        life.keyval = make_keyval(kind, nullptr, callback(life_delete), &life, &life_end);
      }
      step.arrive_and_wait();
      const int keyval = life.keyval;
      set_new(ledger, objects[t], keyval);
      int mine = keyval;
      (void)attrcache_keyval_free(kind, &mine);
      (void)objects[t].erase(keyval);
      (void)set_new(ledger, objects[t], keyval);
      (void)objects[t].erase(keyval);
      step.arrive_and_wait();
    }
  });
  for (const Life& life : lives) EXPECT_EQ(life.ends, 1);
  ledger.expect_all_accounted_for();
}

// Reports walk over keyvals that come and go.
TEST(KeyvalStorm, IntrospectionAgainstChurn) {
  std::deque<Life> lives(kRounds);
  std::atomic<size_t> next{0};
  Universe universe;
  attrcache_kind* kind = universe.kind();
  run_threads(kThreads, [&](int t) {
    for (;;) {
      const size_t n = next++;
      if (n >= lives.size()) return;
      if (t != 0) {
        int keyval = make_keyval(kind, nullptr, callback(life_delete), &lives[n], &life_end);
        attrcache_keyval_info info;
        EXPECT_EQ(attrcache_keyval_describe(kind, keyval, &info), ATTRCACHE_OK);
        EXPECT_EQ(info.callbacks.extra_state, &lives[n]);
        EXPECT_EQ(attrcache_keyval_free(kind, &keyval), ATTRCACHE_OK);
      } else {
        lives[n].ends = 1;  // no keyval
        attrcache_keyval_info infos[16];
        size_t count = 0;
        EXPECT_EQ(attrcache_keyval_list(kind, infos, 16, &count), ATTRCACHE_OK);
        for (size_t i = 0; i < count && i < 16; ++i) {
          EXPECT_TRUE(infos[i].callbacks.delete_fn == callback(life_delete));
        }
        (void)universe.counters();
      }
    }
  });
  for (const Life& life : lives) EXPECT_EQ(life.ends, 1);
  EXPECT_EQ(universe.counters().reclaimable, 0u) << "with nobody pinned all is reclaimed";
}

}  // namespace
}  // namespace attrcache::support
