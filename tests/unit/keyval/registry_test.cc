// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/registry.h"

#include <gtest/gtest.h>

#include <map>

namespace attrcache {
namespace {

// What can't be seen through the C API (unit/c_api has the rest): which indices are reused when.
// The parameter is the number of stripes.
class RegistryTest : public ::testing::TestWithParam<unsigned> {
 protected:
  static constexpr unsigned kKind = 5;

  ~RegistryTest() override { registry.free_unused(); }

  int make() {
    int keyval = ATTRCACHE_KEYVAL_INVALID;
    EXPECT_EQ(registry.create({}, &keyval), ATTRCACHE_OK);
    return keyval;
  }
  int free(int keyval) { return registry.free(&keyval); }
  int check(int keyval) const { return registry.check(id::of(keyval)); }

  Epoch epoch;
  attrcache_kind_options options = {};
  const Threads threads{attrcache_thread_hooks{}};
  Readers readers{threads, Memory(), false};
  DomainSettings settings;
  Registry registry{kKind, options, GetParam(), epoch, readers, settings};
};

// A program with few keyvals at a time keeps getting the first 64 indices, however many keyvals it
// makes. And no int is reused sooner than attrcache.h says.
TEST_P(RegistryTest, FewAtATimeStayAmongTheFirst) {
  std::map<int, int> last_made;
  int alive = make();
  for (int creations = 0; creations < 40000; ++creations) {
    const int made = make();
    ASSERT_LT(id::index(id::of(made)), 64u);
    if (const auto before = last_made.find(made); before != last_made.end()) {
      ASSERT_GT(creations - before->second, 16000);
    }
    last_made[made] = creations;
    EXPECT_EQ(free(alive), ATTRCACHE_OK);
    alive = made;
  }
}

// When nearly all keyvals are alive, there are few free indices to use in turns.
TEST_P(RegistryTest, ANumberComesRoundSoonerWhenAllOthersAreAlive) {
  if (GetParam() > 4) return;  // the counters would take 64 MB
  int last = ATTRCACHE_KEYVAL_INVALID;
  for (uint32_t i = 0; i < Registry::kCapacity; ++i) last = make();
  EXPECT_EQ(Registry::kCapacity, 131008u) << "as attrcache.h says";
  int none = -7;
  EXPECT_EQ(registry.create({}, &none), ATTRCACHE_ERR_KEYVALS_EXHAUSTED);
  EXPECT_EQ(none, -7);
  int made = last;
  for (unsigned creations = 0; creations < id::kGenerations; ++creations) {
    EXPECT_EQ(free(made), ATTRCACHE_OK);
    EXPECT_EQ(check(last), ATTRCACHE_ERR_KEYVAL_STALE);
    made = make();
  }
  EXPECT_EQ(made, last);
}

INSTANTIATE_TEST_SUITE_P(Stripes, RegistryTest, ::testing::Values(1, 4, 64));

}  // namespace
}  // namespace attrcache
