// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/registry.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace attrcache {
namespace {

// The parameter is the number of stripes.
class RegistryTest : public ::testing::TestWithParam<unsigned> {
 protected:
  static constexpr unsigned kKind = 5;

  ~RegistryTest() override {
    registry.free_unused();
    epoch.drain();
  }

  static void count_end(void* ends) { ++*static_cast<int*>(ends); }

  int make() { return make(&ends); }
  int make(int* of) {
    int keyval = ATTRCACHE_KEYVAL_INVALID;
    EXPECT_EQ(
        registry.create({nullptr, nullptr, of, ATTRCACHE_C, count_end, nullptr, nullptr}, &keyval),
        ATTRCACHE_OK);
    return keyval;
  }
  int free(int keyval) { return registry.free(&keyval); }
  int check(int keyval) const { return registry.check(static_cast<uint32_t>(keyval)); }
  bool acquire(int keyval) { return registry.acquire(static_cast<uint32_t>(keyval)); }
  void drop(int keyval) { registry.drop(static_cast<uint32_t>(keyval)); }

  static DomainSettings telling() {
    DomainSettings settings;
    settings.tells_absence = true;
    return settings;
  }
  unsigned named_stripes(int keyval) const {
    unsigned count = 0;
    for (unsigned ordinal = 0; ordinal < GetParam(); ++ordinal) {
      count += References::is_named(
          *registry.counters(id::offset(static_cast<uint32_t>(keyval)), ordinal));
    }
    return count;
  }

  int ends = 0;  // outlive the registry, whose end runs destructors
  int other_ends = 0;
  Epoch epoch{GetParam()};
  attrcache_kind_options options = {};
  const Threads threads{attrcache_thread_hooks{}};
  Readers readers{threads, Memory(), false};
  DomainSettings settings = telling();
  Registry registry{kKind, options, GetParam(), epoch, readers, settings};
};

TEST_P(RegistryTest, AKeyvalIsOfItsKindAndFoundUntilItIsFreed) {
  int keyval = make();
  const auto key = static_cast<uint32_t>(keyval);
  EXPECT_EQ(id::kind(key), kKind);
  EXPECT_EQ(registry.check(key), ATTRCACHE_OK);
  EXPECT_EQ(static_cast<uint32_t>(registry.look_up(key)), key);
  EXPECT_EQ(registry.callbacks(key).functions.extra_state, &ends);
  EXPECT_EQ(registry.free(&keyval), ATTRCACHE_OK);
  EXPECT_EQ(keyval, ATTRCACHE_KEYVAL_INVALID);
  EXPECT_EQ(registry.look_up(key), 0u);
  EXPECT_EQ(ends, 1);
}

TEST_P(RegistryTest, ErrorsTellApart) {
  const int keyval = make();
  EXPECT_EQ(check(ATTRCACHE_KEYVAL_INVALID), ATTRCACHE_ERR_KEYVAL_INVALID);
  EXPECT_EQ(check(-1), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(check(keyval ^ 1), ATTRCACHE_ERR_KEYVAL_KIND);
  const auto key = static_cast<uint32_t>(keyval);
  const auto made = [&](unsigned generation, uint32_t index) {
    return registry.check(id::make(kKind, generation, index));
  };
  EXPECT_EQ(made(id::generation(key), id::index(key) + 1), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(made(id::generation(key) + 1, id::index(key)), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(made(0, Registry::kCapacity - 1), ATTRCACHE_ERR_KEYVAL_UNKNOWN) << "no chunk there";
  EXPECT_EQ(free(keyval), ATTRCACHE_OK);
  EXPECT_EQ(check(keyval), ATTRCACHE_ERR_KEYVAL_STALE);
  int copy = keyval;
  EXPECT_EQ(registry.free(&copy), ATTRCACHE_ERR_KEYVAL_STALE);
  EXPECT_EQ(copy, keyval) << "an error changes nothing";
  EXPECT_FALSE(acquire(keyval));
}

TEST_P(RegistryTest, ReferencesKeepAFreedKeyval) {
  const int keyval = make();
  ASSERT_TRUE(acquire(keyval));
  EXPECT_EQ(free(keyval), ATTRCACHE_OK);
  EXPECT_EQ(check(keyval), ATTRCACHE_OK);
  EXPECT_EQ(free(keyval), ATTRCACHE_ABSENT) << "again, while in use";
  EXPECT_EQ(registry.counts().freed, 1u) << "counts once";
  EXPECT_TRUE(acquire(keyval));
  drop(keyval);
  EXPECT_EQ(ends, 0);
  EXPECT_EQ(registry.counts().gone, 0u);
  EXPECT_TRUE(registry.any_lingers());
  drop(keyval);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(registry.counts().gone, 1u);
  EXPECT_FALSE(registry.any_lingers());
  EXPECT_EQ(check(keyval), ATTRCACHE_ERR_KEYVAL_STALE);
}

TEST_P(RegistryTest, AnIndexRestsAndComesBackInAnotherGeneration) {
  const int first = make();
  const uint32_t index = id::index(static_cast<uint32_t>(first));
  EXPECT_EQ(free(first), ATTRCACHE_OK);
  unsigned rest = 0;
  int again = make();
  while (id::index(static_cast<uint32_t>(again)) != index && rest < 10 * Registry::kRest) {
    EXPECT_EQ(free(again), ATTRCACHE_OK);
    again = make();
    ++rest;
  }
  EXPECT_GE(rest, Registry::kRest);
  EXPECT_LT(rest, 10 * Registry::kRest) << "it is used again at all";
  EXPECT_NE(again, first);
  EXPECT_EQ(check(first), ATTRCACHE_ERR_KEYVAL_STALE);
  EXPECT_EQ(check(again), ATTRCACHE_OK);
}

// Who has few keyvals at a time goes on getting the first 64, however many in all. And each number
// stays away for as long as attrcache.h says.
TEST_P(RegistryTest, FewAtATimeStayAmongTheFirst) {
  std::map<int, int> last_made;
  int alive = make();
  for (int creations = 0; creations < 40000; ++creations) {
    const int made = make();
    ASSERT_LT(id::index(static_cast<uint32_t>(made)), 64u);
    if (const auto before = last_made.find(made); before != last_made.end()) {
      ASSERT_GT(creations - before->second, 16000);
    }
    last_made[made] = creations;
    EXPECT_EQ(free(alive), ATTRCACHE_OK);
    alive = made;
  }
}

// When nearly all keyvals are alive, there are few free indices to use in turns.
TEST_P(RegistryTest, ANumberComesRoundSoonerWhenNearlyAllAreAlive) {
  if (GetParam() > 4) return;  // counters of 64 MB
  int last = ATTRCACHE_KEYVAL_INVALID;
  for (uint32_t i = 0; i < Registry::kCapacity; ++i) last = make();
  int none;
  EXPECT_EQ(registry.create({}, &none), ATTRCACHE_ERR_KEYVALS_EXHAUSTED);
  EXPECT_EQ(free(last), ATTRCACHE_OK);
  EXPECT_EQ(registry.create({}, &none), ATTRCACHE_ERR_KEYVALS_EXHAUSTED)
      << "one free index stays behind";
  EXPECT_EQ(free(static_cast<int>(id::make(kKind, 0, 0))), ATTRCACHE_OK);
  int creations = 0;
  for (int made = ATTRCACHE_KEYVAL_INVALID; made != last; ++creations) {
    ASSERT_LE(creations, 512);
    if (creations > 0) {
      EXPECT_EQ(free(made), ATTRCACHE_OK);
    }
    EXPECT_EQ(check(last), ATTRCACHE_ERR_KEYVAL_STALE);
    made = make();
  }
  EXPECT_GE(creations, 500);
}

TEST_P(RegistryTest, ManyLiveOnesAreAllDifferent) {
  constexpr int kMany = 1000;  // over several chunks
  std::set<int> keyvals;
  for (int i = 0; i < kMany; ++i) keyvals.insert(make());
  EXPECT_EQ(keyvals.size(), size_t{kMany});
  std::set<int> listed;
  registry.for_each([&](uint64_t word, Record& record, const References& references) {
    EXPECT_EQ(record.callbacks.functions.extra_state, &ends);
    EXPECT_EQ(references.count(), 0u);
    listed.insert(static_cast<int>(word & entry_word::kKeyval));
  });
  EXPECT_EQ(listed, keyvals);
}

TEST_P(RegistryTest, VisitSeesReferencesAndNothingStale) {
  const int keyval = make();
  ASSERT_TRUE(acquire(keyval));
  uint64_t count = 0;
  const auto look = [&](uint64_t, Record&, const References& references) {
    count = references.count();
  };
  EXPECT_TRUE(registry.visit(static_cast<uint32_t>(keyval), look));
  EXPECT_EQ(count, 1u);
  drop(keyval);
  EXPECT_EQ(free(keyval), ATTRCACHE_OK);
  EXPECT_FALSE(registry.visit(static_cast<uint32_t>(keyval), look));
}

// What a stripe is named is true of the keyval that there is, whatever was there before.
TEST_P(RegistryTest, StripesAreNamedWhileTheKeyvalIsInUse) {
  const int keyval = make();
  EXPECT_EQ(named_stripes(keyval), 0u) << "none was used";
  registry.name_stripe(static_cast<uint32_t>(keyval));
  const unsigned of_group = named_stripes(keyval);
  EXPECT_GE(of_group, 1u);
  registry.name_stripe(static_cast<uint32_t>(keyval));
  EXPECT_EQ(named_stripes(keyval), of_group);
  EXPECT_EQ(registry.count_references(static_cast<uint32_t>(keyval)), 0u);
  ASSERT_TRUE(acquire(keyval));
  EXPECT_EQ(free(keyval), ATTRCACHE_OK);
  EXPECT_EQ(named_stripes(keyval), GetParam()) << "as long as it is freed and in use";
  drop(keyval);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(named_stripes(keyval), 0u);
}

// Not even by who guesses what int a definition has inside.
TEST_P(RegistryTest, PredefinedOnesCantBeFreed) {
  attrcache_predefined p = {};
  p.number = 7;
  ASSERT_EQ(registry.define(p), ATTRCACHE_OK);
  auto keyval = static_cast<int>(registry.definitions().find(7)->keyval);
  EXPECT_EQ(named_stripes(keyval), GetParam());
  const int before = keyval;
  EXPECT_EQ(registry.free(&keyval), ATTRCACHE_ERR_KEYVAL_PREDEFINED);
  EXPECT_EQ(keyval, before);
  EXPECT_EQ(check(keyval), ATTRCACHE_OK);
}

TEST_P(RegistryTest, FreeUnusedSparesThoseInUse) {
  const int used = make(&other_ends);
  ASSERT_TRUE(acquire(used));
  make();
  make();
  registry.free_unused();
  EXPECT_EQ(ends, 2);
  EXPECT_EQ(other_ends, 0);
  EXPECT_EQ(check(used), ATTRCACHE_OK);
  drop(used);
}

INSTANTIATE_TEST_SUITE_P(Stripes, RegistryTest, ::testing::Values(1, 4, 64));

}  // namespace
}  // namespace attrcache
