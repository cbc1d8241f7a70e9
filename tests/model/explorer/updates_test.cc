// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Read-modify-writes in the explorer: release sequences, atomicity, failing compare-and-swaps.

#include "tests/model/explorer/litmus.h"

namespace attrcache::model::litmus {
namespace {

// x = 1; y = 1 (release) || another changes y from 1 to 2 (relaxed) || read y; if it is 2, read x
template <typename Middle>
Outcomes release_sequence(Middle middle) {
  const auto look = [](Shared& s) {
    s.read[0] = s.y.load(kAcquire);
    s.read[1] = s.read[0] == 2 ? s.x.load(kRelaxed) : 1;
  };
  return shape({2}, in_turn(store(x, 1, kRelaxed), store(y, 1, kRelease)), middle, look);
}

TEST(Updates, ContinueAReleaseSequence) {
  const auto swaps = [](Shared& s) {
    int one = 1;
    s.y.compare_exchange_strong(one, 2, kRelaxed, kRelaxed);
  };
  const auto stores = [](Shared& s) {
    if (s.y.load(kRelaxed) == 1) s.y.store(2, kRelaxed);
  };
  EXPECT_EQ(release_sequence(add(y, 1)), (Outcomes{"01", "11", "21"}));
  EXPECT_EQ(release_sequence(swaps), (Outcomes{"01", "11", "21"}));
  EXPECT_EQ(release_sequence(stores), (Outcomes{"01", "11", "21", "20"}));
}

// SB with updates that change nothing: they read the newest, so both can't miss the other's store.
TEST(Updates, ReadTheNewest) {
  EXPECT_EQ(shape({2}, in_turn(add(x, 1), add(y, 0, 0)), in_turn(add(y, 1), add(x, 0, 1))),
            all_but(2, {"00"}));
}

// Of two swaps from the same value one succeeds. The other may fail by reading a stale value, but
// only one that differs from the expected one.
TEST(Updates, OneSwapWins) {
  EXPECT_EQ(shape({2, {x}}, swap(x, 0, 1, kRelaxed, kRelaxed), swap(x, 1, 2, kRelaxed, kRelaxed)),
            (Outcomes{"011", "202"}));
}

// A failing swap is a load: it may read an older value, if that isn't the expected one.
TEST(Updates, FailingSwapMayBeStale) {
  const auto swaps = [](Shared& s) {
    s.read[0] = 5;
    s.x.compare_exchange_strong(s.read[0], 7, kRelaxed, kRelaxed);
  };
  EXPECT_EQ(shape({1}, in_turn(store(x, 1, kRelaxed), store(x, 2, kRelaxed)), swaps),
            (Outcomes{"0", "1", "2"}));
}

// Failure order: a failing swap that acquires synchronizes, one that is relaxed does not.
TEST(Updates, FailureOrderCounts) {
  for (const Order failure : {kRelaxed, kAcquire}) {
    Outcomes expected = {"01", "11"};
    if (failure == kRelaxed) expected.insert("10");
    const auto look = [](Shared& s) { s.read[1] = s.read[0] == 1 ? s.x.load(kRelaxed) : 1; };
    EXPECT_EQ(shape({2}, in_turn(store(x, 1, kRelaxed), store(y, 1, kRelease)),
                    in_turn(swap(y, 0, 2, kAcqRel, failure), look)),
              expected);
  }
}

Access half(void* at) { return {at, 8, Kind::kSwap, kAcqRel, __FILE__, __LINE__}; }

// x and y together || x, then y || the same in the other order. If acquired, either half tells of
// the other; if relaxed, neither does.
Outcomes both_at_once(Order order) {
  return outcomes([=] {
    Atomic<uint64_t> x{0}, y{0};
    uint64_t a = 0, b = 0, c = 0, d = 0;
    spawn([&] {
      Bits expected = {0, 0};
      access::swap_both(half(&x), half(&y), expected, {1, 1});
    });
    spawn([&] {
      a = x.load(order);
      b = y.load(kRelaxed);
    });
    spawn([&] {
      c = y.load(order);
      d = x.load(kRelaxed);
    });
    join();
    return digits(a, b, c, d);
  });
}

TEST(Updates, OfTwoLocationsAreOneStep) {
  Outcomes torn;
  for (const char* one : {"1000", "1001", "1011", "1010", "0010", "0110", "1110"}) {
    torn.insert(one);
  }
  EXPECT_EQ(both_at_once(kAcquire), all_but(4, torn));
  EXPECT_EQ(both_at_once(kRelaxed), all_but(4, {}));
}

}  // namespace
}  // namespace attrcache::model::litmus
