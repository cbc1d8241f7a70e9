// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "epoch/epoch.h"

#include <gtest/gtest.h>

#include <optional>

namespace attrcache {
namespace {

struct Item : Retired {
  Item() {
    reclaim = [](Retired* self, const Memory&) { ++static_cast<Item*>(self)->reclaimed; };
  }
  int reclaimed = 0;
};

TEST(EpochTest, WithNobodyPinnedRetireReclaimsAtOnce) {
  Epoch epoch(4);
  for (int i = 0; i < 10; ++i) {
    Item item;
    epoch.retire(&item);
    EXPECT_EQ(item.reclaimed, 1);
    EXPECT_EQ(epoch.waiting(), 0u);
  }
}

TEST(EpochTest, APinKeepsItOffAndTheLastToUnpinReclaims) {
  for (unsigned stripes : {1u, 8u, 64u}) {
    Epoch epoch(stripes);
    Item items[3];
    std::optional<Epoch::Guard> first(std::in_place, epoch, 1), second(std::in_place, epoch, 2);
    for (Item& item : items) epoch.retire(&item);
    EXPECT_EQ(epoch.waiting(), 3u);
    first.reset();
    for (Item& item : items) EXPECT_EQ(item.reclaimed, 0);
    second.reset();
    for (Item& item : items) EXPECT_EQ(item.reclaimed, 1);
    EXPECT_EQ(epoch.waiting(), 0u);
  }
}

TEST(EpochTest, ALaterPinDoesNotKeepOffWhatWasRetiredBefore) {
  Epoch epoch(1);
  Item item;
  {
    std::optional<Epoch::Guard> early(std::in_place, epoch, 1);
    epoch.retire(&item);
    Epoch::Guard late(epoch, 2);
    early.reset();
    EXPECT_EQ(item.reclaimed, 1);
  }
}

TEST(EpochTest, PinsNest) {
  Epoch epoch(2);
  Item item;
  {
    Epoch::Guard outer(epoch, 1);
    { Epoch::Guard inner(epoch, 1); }
    epoch.retire(&item);
    { Epoch::Guard inner(epoch, 1); }
    EXPECT_EQ(item.reclaimed, 0);
  }
  EXPECT_EQ(item.reclaimed, 1);
}

TEST(EpochTest, ReclaimMayRetireMore) {
  Epoch epoch(1);
  struct Chain : Item {
    Epoch* epoch;
    Item* next_one;
  } chain;
  Item last;
  chain.epoch = &epoch;
  chain.next_one = &last;
  chain.reclaim = [](Retired* self, const Memory&) {
    auto* c = static_cast<Chain*>(self);
    ++c->reclaimed;
    c->epoch->retire(c->next_one);
  };
  epoch.retire(&chain);
  EXPECT_EQ(chain.reclaimed, 1);
  EXPECT_EQ(last.reclaimed, 1);
}

TEST(EpochTest, DrainReclaimsEverything) {
  Epoch epoch(1);
  epoch.drain();
  EXPECT_EQ(epoch.waiting(), 0u);
}

}  // namespace
}  // namespace attrcache
