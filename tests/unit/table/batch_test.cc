// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace attrcache {
namespace {

const Memory kNoMemory({[](size_t, size_t, void*) -> void* { return nullptr; }, [](void*, void*) {},
                        nullptr});

struct Parameter {
  uint64_t clock;
  const Memory* memory;
};

class BatchTest : public ::testing::TestWithParam<Parameter> {
 protected:
  BatchTest() { table.clock.store(GetParam().clock, kRelaxed); }
  ~BatchTest() override { table.clear(kProcessMemory); }

  void attach(uint32_t index) {
    const uint64_t m =
        meta::attached(stripe::name(id::make(5, 0, 0), 0), ATTRCACHE_AS_POINTER, table.tick());
    Pair* slot =
        index < kInlineSlots ? &table.inline_slots[index] : table.grow(index, kProcessMemory);
    SlotContent now = slot->load();
    if (now.meta == 0) count_attribute(*slot, id::offset_at(index));
    ASSERT_TRUE(slot->compare_exchange(now, {index, m}));
  }
  // All indices, in the order of the batches.
  std::vector<uint32_t> all() {
    std::vector<uint32_t> indices;
    Batch batch(table, *GetParam().memory);
    while (batch.next()) {
      for (const Batch::Item& item : batch) indices.push_back(item.index);
    }
    return indices;
  }

  attrcache_table bytes = ATTRCACHE_TABLE_INIT;
  Table& table = Table::of(&bytes);
};

// Without memory for a list, each ten in the order of the slots are a batch: each has the right order
// by itself. Leaves come in the order in which they were made.
TEST_P(BatchTest, OldestFirstInAnyNumber) {
  for (const uint32_t count : {0u, 1u, 9u, 10u, 11u, 20u, 21u, 500u}) {
    table.clear(kProcessMemory);
    table.clock.store(GetParam().clock, kRelaxed);
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < count; ++i) order.push_back((i * 7919) % 1009);
    for (const uint32_t index : order) attach(index);
    if (GetParam().memory == &kNoMemory) {
      std::map<uint32_t, size_t> set, made = {{0, 0}};
      for (const uint32_t index : order) {
        set.emplace(index, set.size());
        made.emplace(index / kLeafSlots, made.size());
      }
      std::sort(order.begin(), order.end(), [&made](uint32_t a, uint32_t b) {
        const auto place = [&made](uint32_t i) { return std::pair(made[i / kLeafSlots], i); };
        return place(a) < place(b);
      });
      for (size_t i = 0; i < order.size(); i += 10) {
        std::sort(order.begin() + i, order.begin() + std::min<size_t>(i + 10, order.size()),
                  [&set](uint32_t a, uint32_t b) { return set[a] < set[b]; });
      }
    }
    EXPECT_EQ(all(), order) << count;
  }
}

// What is attached after the list was made isn't in it. Without memory for a list, what comes in a
// later slot is.
TEST_P(BatchTest, WhatIsAttachedLater) {
  for (uint32_t i = 0; i < 16; ++i) attach(i);
  Batch batch(table, *GetParam().memory);
  ASSERT_TRUE(batch.next());
  EXPECT_EQ(batch.end() - batch.begin(), GetParam().memory != &kNoMemory ? 16 : 10);
  attach(200);
  std::vector<uint32_t> rest;
  while (batch.next()) {
    for (const Batch::Item& item : batch) rest.push_back(item.index);
  }
  if (GetParam().memory != &kNoMemory) {
    EXPECT_TRUE(rest.empty());
  } else {
    EXPECT_EQ(rest, (std::vector<uint32_t>{10, 11, 12, 13, 14, 15, 200}));
  }
}

// All attributes are replaced between two batches. Under each index one was attached all the time,
// so oldest first each index must be found. It may be found twice.
TEST_P(BatchTest, WhatIsReplacedMeanwhileIsNotMissed) {
  for (uint32_t i = 0; i < 300; ++i) attach(i);
  Batch batch(table, *GetParam().memory);
  std::vector<int> had(300);
  while (batch.next()) {
    for (const Batch::Item& item : batch) ++had[item.index];
    for (uint32_t i = 0; i < 300; ++i) attach(i);
  }
  for (uint32_t i = 0; i < 300; ++i) {
    EXPECT_GE(had[i], 1) << i;
    EXPECT_LE(had[i], 2) << i;
  }
}

// All that a batch has listed, and all beside it, is deleted before the next one, which goes on from
// there though a walk passes over that place.
TEST_P(BatchTest, GoesOnFromWhereNothingIsLeft) {
  for (uint32_t i = 0; i < 300; ++i) attach(i);
  Batch batch(table, *GetParam().memory);
  unsigned listed = 0;
  while (batch.next()) {
    for (const Batch::Item& item : batch) {
      ++listed;
      item.slot->clear_unshared();
      uncount_attribute(*item.slot, id::offset_at(item.index));
    }
  }
  EXPECT_EQ(listed, 300u);
}

// One attribute is set first, and then others so often that the clock has nearly wrapped around. If it
// has, the order may be wrong, and each is listed once all the same.
TEST_P(BatchTest, WhatIsVeryOldIsTheOldest) {
  constexpr uint64_t kAround = uint64_t{1} << 35;
  for (const uint64_t later : {kAround / 4, kAround / 2, kAround - 3, kAround + 5}) {
    table.clear(kProcessMemory);
    table.clock.store(GetParam().clock, kRelaxed);
    attach(5);
    table.clock.store(GetParam().clock + later, kRelaxed);
    attach(3);
    attach(7);
    std::vector<uint32_t> found = all();
    if (later < kAround) {
      EXPECT_EQ(found, (std::vector<uint32_t>{5, 3, 7})) << later;
    }
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, (std::vector<uint32_t>{3, 5, 7})) << later;
  }
}

// Where the clock wraps around between the two, their numbers rise in the order of their slots.
TEST_P(BatchTest, TheYoungerIsLastThoughItsSlotIsFirst) {
  attach(5);
  table.clock.store(GetParam().clock + 0x80, kRelaxed);
  attach(3);
  EXPECT_EQ(all(), (std::vector<uint32_t>{5, 3}));
}

// From the start, across the low 32 bits, and across the whole counter.
INSTANTIATE_TEST_SUITE_P(
    Clocks, BatchTest, ::testing::ValuesIn([] {
      std::vector<Parameter> all;
      for (const uint64_t clock : {0ull, 0xffffffc0ull, 0x7ffffffc0ull, 0xfffffffc0ull}) {
        for (const Memory* m : {&kProcessMemory, &kNoMemory}) {
          all.push_back({clock, m});
        }
      }
      return all;
    }()));

}  // namespace
}  // namespace attrcache
