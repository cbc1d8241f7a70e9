// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A table's slots, and get's look-up against the table's own find, at every height of the tree.

#include "table/table.h"

#include <gtest/gtest.h>

#include <climits>
#include <map>
#include <set>
#include <vector>

#include "table/meta.h"

namespace attrcache {
namespace {

// The indices just before and after each place where the way to a slot changes.
constexpr uint32_t kIndices[] = {0,    2,    3,     7,     8,     63,    64,    71,     72,    127,
                                 128,  191,  192,   255,   256,   1024,  2047,  2048,   2175,  4095,
                                 4096, 9999, 32767, 32768, 65535, 65536, 99999, 131005, 131006};
constexpr unsigned kKind = 2, kGeneration = 7;
constexpr uint32_t kLast = 131006;

class TableTest : public ::testing::Test {
 protected:
  ~TableTest() override { table.clear(kProcessMemory); }

  static int keyval(uint32_t index, unsigned generation = kGeneration) {
    return static_cast<int>(id::make(kKind, generation, index));
  }
  // The slot of an index, which is made if need be.
  Pair* slot_of(uint32_t index) {
    return index < kInlineSlots ? &table.inline_slots[index] : table.grow(index, kProcessMemory);
  }
  const Pair* slot_at(uint32_t index) { return table.at_offset(id::offset_at(index)); }
  void attach(uint32_t index) {
    Pair* slot = slot_of(index);
    ASSERT_NE(slot, nullptr);
    SlotContent now = slot->load();
    const uint64_t meta =
        meta::attached(stripe::name(id::of(keyval(0)), 0), ATTRCACHE_AS_POINTER, table.tick());
    count_attribute(*slot, id::offset_at(index));
    ASSERT_TRUE(slot->compare_exchange(now, {index + 1, meta}));
  }
  void detach(uint32_t index) {
    Pair& slot = *slot_of(index);
    slot.clear_unshared();
    uncount_attribute(slot, id::offset_at(index));
  }
  // Without a kind, a keyval that isn't found can't be checked, so get returns an error.
  void* look_for(int keyval) {
    void* value = nullptr;
    const int result = attrcache_get_renumbered(nullptr, &bytes, keyval, &value);
    EXPECT_EQ(result, value != nullptr ? ATTRCACHE_OK : ATTRCACHE_ERR_NULL);
    return value;
  }
  static void* value_of(uint32_t index) { return reinterpret_cast<void*>(uintptr_t{index} + 1); }

  attrcache_table bytes = ATTRCACHE_TABLE_INIT;
  Table& table = Table::of(&bytes);
};

TEST_F(TableTest, EveryIndexHasASlotOfItsOwnThatNeverMoves) {
  std::vector<uint32_t> indices;
  for (uint32_t i = 0; i < 200; ++i) indices.push_back(i);
  for (uint32_t i = 200; i <= kLast; i += 61) indices.push_back(i);
  indices.push_back(kLast);
  std::map<uint32_t, Pair*> slots;
  std::set<Pair*> distinct;
  for (const uint32_t index : indices) {
    Pair* slot = slot_of(index);
    ASSERT_NE(slot, nullptr);
    slots[index] = slot;
    distinct.insert(slot);
    attach(index);
  }
  EXPECT_EQ(distinct.size(), slots.size());
  for (const auto& [index, slot] : slots) {
    EXPECT_EQ(slot_at(index), slot);
    EXPECT_EQ(slot->load().value, index + 1);
  }
  std::set<uint32_t> visited;
  table.for_each([&](uint32_t index, Pair& slot) {
    if (slot.load_meta() == 0) return;
    EXPECT_EQ(slot.load().value, index + 1);
    EXPECT_TRUE(visited.insert(index).second);
  });
  EXPECT_EQ(visited.size(), slots.size());
}

// A walk visits what there is, and little more, whatever there once was, and wherever it was.
TEST_F(TableTest, WalksPassOverGroupsWithoutAttributes) {
  constexpr uint32_t kIn = kGroupLeaves * kLeafSlots;
  for (const uint32_t kept : {0u, 5u, 8u, 64u, kIn, 50 * kIn, 99 * kIn + 3, 100 * kIn - 1}) {
    for (uint32_t i = 0; i < 100 * kIn; ++i) attach(i);
    for (uint32_t i = 0; i < 100 * kIn; ++i) {
      if (i != kept) detach(i);
    }
    uint32_t visited = 0, found = 0;
    table.for_each([&](uint32_t index, Pair& slot) {
      ++visited;
      if (slot.load_meta() != 0) found += index == kept ? 1 : 1000;
    });
    EXPECT_EQ(found, 1u) << kept;
    EXPECT_LE(visited, kDirectorySlots + kIn) << kept;
    table.clear(kProcessMemory);
  }
}

// However often a leaf is asked for in vain, none is given out twice.
TEST_F(TableTest, ALeafThatThereIsNoMemoryForIsNotCounted) {
  attach(8);
  const Memory none({[](size_t, size_t, void*) -> void* { return nullptr; }, nullptr, nullptr});
  for (int i = 0; i < 9; ++i) EXPECT_EQ(table.grow(16, none), nullptr);
  EXPECT_EQ(table.directory.load(kAcquire)->first.load(kAcquire)->asked_for.load(kRelaxed), 1u);
}

// The tree has each height in turn: with one index only, and with it set after a low one. The
// leaves of 64, 192, 2112 and 32832 have their lowest bits in common: 4, 8 and 12 of them.
TEST_F(TableTest, FindsEachIndexAndNoOther) {
  for (const uint32_t first : {UINT_MAX, 0u, 64u, 192u, 300u, 2112u, 3000u, 32832u}) {
    for (const uint32_t index : kIndices) {
      if (first != UINT_MAX) attach(first);
      if (index != first) attach(index);
      EXPECT_EQ(slot_at(index)->load().value, index + 1);
      for (const uint32_t other : kIndices) {
        void* expected = other == index || other == first ? value_of(other) : nullptr;
        EXPECT_EQ(look_for(keyval(other)), expected) << first << " " << index << " " << other;
      }
      table.clear(kProcessMemory);
    }
  }
}

TEST_F(TableTest, FindsAllAtOnceAndTakesNoOtherIntForAKeyval) {
  for (const uint32_t index : kIndices) attach(index);
  for (const uint32_t index : kIndices) {
    EXPECT_EQ(look_for(keyval(index)), value_of(index)) << index;
    EXPECT_EQ(look_for(keyval(index, kGeneration + 1)), nullptr) << index;
    EXPECT_EQ(look_for(keyval(index) ^ 1), nullptr) << index;  // another kind
    for (const unsigned marker : {0u, 1u, 3u, 4u, 5u, 6u, 7u}) {
      const uint32_t made = (static_cast<uint32_t>(keyval(index)) & ~id::kMarkerMask) | marker
                                                                                            << 29;
      EXPECT_EQ(look_for(static_cast<int>(made)), nullptr) << index << " " << marker;
    }
  }
}

}  // namespace
}  // namespace attrcache
