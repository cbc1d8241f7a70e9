// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/wait.h"

#include <gtest/gtest.h>

#include <thread>

namespace attrcache {
namespace {

constexpr uint64_t kStep = uint64_t{1} << 40;  // above the bit that a Pair keeps to itself

TEST(WaitTest, BackoffComesBack) {
  Backoff backoff;
  for (int i = 0; i < 300; ++i) backoff.relax();
}

// Whoever looks at a meta that has changed since it was read does not sleep.
TEST(WaitTest, NobodySleepsOnWhatHasChanged) {
  Pair slot;
  slot.store_unshared({0, uint64_t{7} << 32});
  SlotWait wait;
  for (int i = 0; i < 1000; ++i) wait.until_changed(slot, uint64_t{6} << 32);
}

// Many waits, so that some sleep, and a wake after each change: none is missed, or this would never
// end.
TEST(WaitTest, WhoeverSleepsIsWoken) {
  Pair slot;
  slot.store_unshared({0, kStep});
  std::thread waiter([&slot] {
    for (uint64_t turn = 1; turn < 2000; turn += 2) {
      SlotWait wait;
      uint64_t m = slot.load_meta();
      while (m >> 40 == turn) {
        wait.until_changed(slot, m);
        m = slot.load_meta();
      }
      slot.add_meta(kStep);
      wake(slot);
    }
  });
  for (uint64_t turn = 2; turn <= 2000; turn += 2) {
    slot.add_meta(kStep);
    wake(slot);
    SlotWait wait;
    uint64_t m = slot.load_meta();
    while (m >> 40 == turn) {
      wait.until_changed(slot, m);
      m = slot.load_meta();
    }
  }
  waiter.join();
  EXPECT_EQ(slot.load_meta() >> 40, 2001u);
}

}  // namespace
}  // namespace attrcache
