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

TEST(StoppedReaderTest, KeyvalsAreMadeAsLongAsFewAreAlive) {
  Universe universe{&through_hooks()};
  attrcache_kind* kind = universe.kind();
  Registry& registry = *reinterpret_cast<Registry*>(kind);
  int seen = make_keyval(kind, nullptr, nullptr, &seen);
  int alive = Recorder::make(kind, {});
  for (uint32_t i = 0; i < 10 * Registry::kRound; ++i) {  // until no further entries are needed
    free_keyval(kind, Recorder::make(kind, {}));
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

}  // namespace
}  // namespace attrcache::support
