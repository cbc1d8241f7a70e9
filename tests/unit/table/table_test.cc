// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace attrcache {
namespace {

constexpr uint32_t kLast = 131006;

class TableTest : public ::testing::Test {
 protected:
  ~TableTest() override { table.clear(kProcessMemory); }
  static void fill(Pair& slot, uint64_t value) {
    SlotContent now = slot.load();
    EXPECT_TRUE(slot.compare_exchange(now, {value, value + 1}));
  }

  attrcache_table bytes = ATTRCACHE_TABLE_INIT;
  Table& table = Table::of(&bytes);
};

TEST_F(TableTest, EmptyHasOnlyItsInlineSlots) {
  for (uint32_t index = 0; index <= kLast; ++index) {
    EXPECT_EQ(table.find(index) != nullptr, index < kInlineSlots);
  }
}

TEST_F(TableTest, EveryIndexHasASlotOfItsOwnThatNeverMoves) {
  std::vector<uint32_t> indices;
  for (uint32_t i = 0; i < 200; ++i) indices.push_back(i);
  for (uint32_t i = 200; i <= kLast; i += 61) indices.push_back(i);
  indices.push_back(kLast);
  std::map<uint32_t, Pair*> slots;
  std::set<Pair*> distinct;
  for (const uint32_t index : indices) {
    Pair* slot = table.find_or_grow(index, kProcessMemory);
    ASSERT_NE(slot, nullptr);
    slots[index] = slot;
    distinct.insert(slot);
    fill(*slot, index);
  }
  EXPECT_EQ(distinct.size(), slots.size());
  for (const auto& [index, slot] : slots) {
    EXPECT_EQ(table.find(index), slot);
    EXPECT_EQ(slot->load().value, index);
  }
  std::set<uint32_t> visited;
  table.for_each([&](uint32_t index, Pair& slot) {
    if (slot.load_meta() == 0) return;
    EXPECT_EQ(slot.load().value, index);
    EXPECT_TRUE(visited.insert(index).second);
  });
  EXPECT_EQ(visited.size(), slots.size());
}

TEST_F(TableTest, GrowsFromAnyIndexToAnyOther) {
  // 64, 192, 2112 and 32832 have their leaves' lowest bits in common: 4, 8 and 12 of them.
  const uint32_t indices[] = {3,    8,    63,   64,    127,   128,   192,
                              2047, 2048, 2112, 32767, 32768, 32832, kLast};
  for (const uint32_t first : indices) {
    for (const uint32_t second : indices) {
      Pair* one = table.find_or_grow(first, kProcessMemory);
      fill(*one, first);
      Pair* two = table.find_or_grow(second, kProcessMemory);
      EXPECT_EQ(table.find(first), one);
      EXPECT_EQ(table.find(second), two);
      EXPECT_EQ(one == two, first == second);
      EXPECT_EQ(one->load().value, first);
      table.clear(kProcessMemory);
    }
  }
}

TEST_F(TableTest, ClearMakesAllBytesZero) {
  for (const uint32_t index : {0u, 1u, 2u, 5u, 70u, 5000u}) {
    fill(*table.find_or_grow(index, kProcessMemory), 7);
    table.tick();
  }
  table.clear(kProcessMemory);
  for (const uint64_t word : bytes.opaque) EXPECT_EQ(word, 0u);
}

}  // namespace
}  // namespace attrcache
