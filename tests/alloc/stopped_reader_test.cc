// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A thread that is stopped inside introspection blocks no other thread, and costs a record for each
// keyval that is freed meanwhile.

#include "keyval/registry.h"
#include "tests/alloc/allocator.h"
#include "tests/support/recorder.h"
#include "tests/support/threads.h"

namespace attrcache::support {
namespace {

// More than there are indices.
constexpr uint64_t kRounds = 200000;
static_assert(kRounds > Registry::kCapacity);
// As attrcache.h says.
constexpr size_t kRecordBytes = 96;

class StoppedReaderTest : public ::testing::Test {
 protected:
  int make() { return Recorder::make(kind, {}); }

  Universe universe{&through_hooks()};
  attrcache_kind* kind = universe.kind();
  Registry& registry = *reinterpret_cast<Registry*>(kind);
  int seen = make_keyval(kind, nullptr, nullptr, &seen);
};

TEST_F(StoppedReaderTest, KeyvalsAreMadeAsLongAsFewAreAlive) {
  int alive = make();
  for (uint32_t i = 0; i < 10 * Registry::kRest; ++i) {  // until no further entries are needed
    free_keyval(kind, make());
  }
  const size_t blocks = blocks_allocated(), bytes = bytes_allocated();
  Gate stopped, goes_on;
  std::thread reader([&] {
    registry.visit(id::of(seen), [&](uint64_t, Record& record, const References&) {
      stopped.open();
      goes_on.wait();
      EXPECT_EQ(record.callbacks.extra_state, &seen) << "still the record of its keyval";
    });
  });
  stopped.wait();
  uint64_t failed = 0;
  for (uint64_t i = 0; i < kRounds; ++i) {
    int next = ATTRCACHE_KEYVAL_INVALID;
    failed += attrcache_keyval_create(kind, nullptr, &next) != ATTRCACHE_OK;
    if (next == ATTRCACHE_KEYVAL_INVALID) continue;
    EXPECT_EQ(attrcache_keyval_free(kind, &alive), ATTRCACHE_OK);
    alive = next;
  }
  EXPECT_EQ(failed, 0u);
  EXPECT_EQ(universe.counters().reclaimable, kRounds);
  EXPECT_LE(blocks_allocated() - blocks, kRounds);
  EXPECT_LE(bytes_allocated() - bytes, kRounds * kRecordBytes);
  goes_on.open();
  reader.join();
  EXPECT_EQ(universe.counters().reclaimable, 0u);
  EXPECT_LE(blocks_allocated(), blocks + 1) << "a keyval that is still alive may have one";
  free_keyval(kind, alive);
  EXPECT_EQ(blocks_allocated(), blocks);
  EXPECT_EQ(bytes_allocated(), bytes);
}

// A domain that ends gives back the records of keyvals that are alive.
TEST_F(StoppedReaderTest, TheEndOfTheDomainGivesRecordsBack) {
  const size_t blocks = blocks_allocated();
  {
    Universe other{&through_hooks()};
    Registry& kinds = *reinterpret_cast<Registry*>(other.kind());
    Object object(other.kind());
    std::vector<int> alive;
    for (int i = 0; i < 100; ++i) alive.push_back(Recorder::make(other.kind(), {}));
    for (const int keyval : alive) free_keyval(other.kind(), keyval);
    alive.clear();
    {
      const Epoch::Guard pin(kinds.epoch());
      for (uint32_t i = 0; i < 4 * Registry::kRest; ++i) {
        free_keyval(other.kind(), Recorder::make(other.kind(), {}));
      }
      const size_t before = blocks_allocated();  // by now all free indices have a record that waits
      for (int i = 0; i < 10; ++i) alive.push_back(Recorder::make(other.kind(), {}));
      EXPECT_EQ(blocks_allocated(), before + 10);
      object.set(alive[0], 1);
      free_keyval(other.kind(), alive[0]);
    }
    EXPECT_EQ(other.counters().reclaimable, 0u);
    object.free();
  }
  EXPECT_EQ(blocks_allocated(), blocks);
}

}  // namespace
}  // namespace attrcache::support
