// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// lib/platform/asymmetric_fence.h in the explorer: which outcomes the light and the heavy side
// allow. Each shape is also run without what forbids an outcome, and then has that outcome.

#include "platform/asymmetric_fence.h"

#include "tests/model/explorer/litmus.h"
#include "tests/model/explorer/plain.h"

namespace attrcache::model::litmus {
namespace {

enum class Side { kNone, kLight, kHeavy };

using Of = AsymmetricFence::Of;

// x = 1; fence; read y, as one side does it
int store_and_read(Of readers, Side side, Atomic<int>& x, Atomic<int>& y) {
  if (side == Side::kLight) {
    AsymmetricFence::announce(x, 1);
    if (readers == Of::kFull) full_fence();
    return y.load(kAcquire);
  }
  x.exchange(1, kAcqRel);
  if (side == Side::kHeavy) AsymmetricFence::heavy_fence(readers);
  return AsymmetricFence::look(y);
}

// SB: x = 1; fence; read y || y = 1; fence; read x
Outcomes store_buffering(Side first, Side second, Of readers = Of::kLight) {
  return outcomes([=] {
    Atomic<int> x{0}, y{0};
    int a = 0, b = 0;
    spawn([&, first] { a = store_and_read(readers, first, x, y); });
    spawn([&, second] { b = store_and_read(readers, second, y, x); });
    join();
    return digits(a, b);
  });
}

TEST(AsymmetricFence, StoreBuffering) {
  const Outcomes all = all_but(2, {});
  const Outcomes ordered = all_but(2, {"00"});
  EXPECT_EQ(store_buffering(Side::kLight, Side::kHeavy), ordered);
  EXPECT_EQ(store_buffering(Side::kHeavy, Side::kLight), ordered);
  EXPECT_EQ(store_buffering(Side::kHeavy, Side::kHeavy), ordered);
  EXPECT_EQ(store_buffering(Side::kLight, Side::kLight), all);
  EXPECT_EQ(store_buffering(Side::kLight, Side::kNone), all);
}

// With full readers, each side has a full fence of its own.
TEST(AsymmetricFence, StoreBufferingWithFullReaders) {
  EXPECT_EQ(store_buffering(Side::kLight, Side::kHeavy, Of::kFull), all_but(2, {"00"}));
  EXPECT_EQ(store_buffering(Side::kLight, Side::kNone, Of::kFull), all_but(2, {}));
}

constexpr auto heavy_fence = [](Shared&) { AsymmetricFence::heavy_fence(Of::kLight); };
constexpr auto no_fence = [](Shared&) {};

// MP: x = 1; y = 1 || read y; read x, all relaxed, with a heavy fence on one side: between its
// accesses, or (which doesn't help) after the stores or before the loads.
TEST(AsymmetricFence, MessagePassing) {
  const Outcomes ordered = all_but(2, {"10"});
  const Outcomes all = all_but(2, {});
  const auto stores = [](auto between, auto after) {
    return in_turn(store(x, 1, kRelaxed), between, store(y, 1, kRelaxed), after);
  };
  const auto loads = [](auto before, auto between) {
    return in_turn(before, load(0, y, kRelaxed), between, load(1, x, kRelaxed));
  };
  EXPECT_EQ(shape({2}, stores(heavy_fence, no_fence), loads(no_fence, no_fence)), ordered);
  EXPECT_EQ(shape({2}, stores(no_fence, no_fence), loads(no_fence, heavy_fence)), ordered);
  EXPECT_EQ(shape({2}, stores(no_fence, heavy_fence), loads(no_fence, no_fence)), all);
  EXPECT_EQ(shape({2}, stores(no_fence, no_fence), loads(heavy_fence, no_fence)), all);
}

// A fence alone makes stores visible. One thread's accesses happen before another's only if the
// other acquires a store that the one released, as announce() and look() do.
TEST(AsymmetricFence, HappensBeforeByWhatIsRead) {
  const auto program = [](Of readers, bool look) {
    return [=] {
      Plain<int> cell;
      Atomic<int> done{0};
      spawn([&] {
        cell.write(1);
        AsymmetricFence::announce(done, 1);
      });
      spawn([&, look] {
        AsymmetricFence::heavy_fence(readers);
        const int seen = look ? AsymmetricFence::look(done) : done.load(kRelaxed);
        if (seen == 1) expect(cell.read() == 1, "it was written");
      });
      join();
    };
  };
  for (const Of readers : {Of::kLight, Of::kFull}) {
    EXPECT_EQ(explore({.quiet = true}, program(readers, true)).failure, "");
    EXPECT_EQ(explore({.quiet = true}, program(readers, false)).failure,
              "race: a write, and this read");
  }
}

}  // namespace
}  // namespace attrcache::model::litmus
