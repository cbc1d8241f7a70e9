// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "epoch/epoch.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace attrcache {
namespace {

struct Item : Retired {
  Item() {
    reclaim = [](Retired* self, const Memory&) { ++static_cast<Item*>(self)->reclaimed; };
  }
  int reclaimed = 0;
};

// At any time some thread is pinned, while the epoch's number wraps around.
TEST(EpochTest, PinsThatOverlapWithoutEndDoNotPileUpWhatIsRetired) {
  Epoch epoch;
  constexpr int kRounds = 200000;
  std::vector<Item> items(kRounds);
  std::optional<Epoch::Guard> pins[2];
  for (int i = 0; i < kRounds; ++i) {
    pins[i % 2].emplace(epoch);  // which ends the pin of two rounds ago
    epoch.retire(&items[i]);
    ASSERT_EQ(items[i].reclaimed, 0);
    ASSERT_LE(epoch.waiting(), 3u);
  }
  for (auto& pin : pins) pin.reset();
  EXPECT_EQ(epoch.waiting(), 0u);
  for (const Item& item : items) ASSERT_EQ(item.reclaimed, 1);
}

// Neither count of pins overflows into its neighbour.
TEST(EpochTest, ManyPinsInEitherCount) {
  constexpr size_t kMany = size_t{1} << 17;
  Epoch epoch;
  Item items[3];
  std::vector<std::optional<Epoch::Guard>> pins(2 * kMany);
  for (size_t i = 0; i < kMany; ++i) pins[i].emplace(epoch);
  epoch.retire(&items[0]);
  for (size_t i = kMany; i < 2 * kMany; ++i) pins[i].emplace(epoch);
  epoch.retire(&items[1]);
  for (size_t i = 0; i < kMany; ++i) pins[i].reset();
  EXPECT_EQ(items[0].reclaimed, 1);
  EXPECT_EQ(items[1].reclaimed, 0);
  epoch.retire(&items[2]);
  for (size_t i = kMany; i < 2 * kMany; ++i) pins[i].reset();
  EXPECT_EQ(items[1].reclaimed, 1);
  EXPECT_EQ(items[2].reclaimed, 1);
}

}  // namespace
}  // namespace attrcache
