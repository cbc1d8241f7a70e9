// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Read-modify-writes in the explorer: release sequences, atomicity, failing compare-and-swaps.

#include "tests/model/explorer/litmus.h"

namespace attrcache::model::litmus {
namespace {

// data = 1; x = 1 (release) || update or store of x by another (relaxed) || read x = 2; read data
enum class Middle { kUpdate, kSwap, kStore };

Outcomes release_sequence(Middle middle) {
  return outcomes([=] {
    Atomic<int> data{0}, x{0};
    int seen = 0, d = 1;
    spawn([&] {
      data.store(1, kRelaxed);
      x.store(1, kRelease);
    });
    spawn([&] {
      int one = 1;
      switch (middle) {
        case Middle::kUpdate:
          x.fetch_add(1, kRelaxed);
          break;
        case Middle::kSwap:
          x.compare_exchange_strong(one, 2, kRelaxed, kRelaxed);
          break;
        case Middle::kStore:
          if (x.load(kRelaxed) == 1) x.store(2, kRelaxed);
          break;
      }
    });
    spawn([&] {
      seen = x.load(kAcquire);
      if (seen == 2) d = data.load(kRelaxed);
    });
    join();
    return digits(seen, d);
  });
}

TEST(Updates, ContinueAReleaseSequence) {
  EXPECT_EQ(release_sequence(Middle::kUpdate), (Outcomes{"01", "11", "21"}));
  EXPECT_EQ(release_sequence(Middle::kSwap), (Outcomes{"01", "11", "21"}));
  EXPECT_EQ(release_sequence(Middle::kStore), (Outcomes{"01", "11", "21", "20"}));
}

// Since C++20 a later plain store of the same thread does not continue it.
TEST(Updates, OwnPlainStoreEndsAReleaseSequence) {
  const Outcomes seen = outcomes([] {
    Atomic<int> data{0}, x{0};
    int f = 0, d = 1;
    spawn([&] {
      data.store(1, kRelaxed);
      x.store(1, kRelease);
      x.store(2, kRelaxed);
    });
    spawn([&] {
      f = x.load(kAcquire);
      if (f != 0) d = data.load(kRelaxed);
    });
    join();
    return digits(f, d);
  });
  EXPECT_EQ(seen, (Outcomes{"01", "11", "20", "21"}));
}

TEST(Updates, LoseNothing) {
  const Outcomes seen = outcomes([] {
    Atomic<int> x{0};
    for (int t = 0; t < 3; ++t) spawn([&] { x.fetch_add(1, kRelaxed); });
    join();
    return digits(x.load(kRelaxed));
  });
  EXPECT_EQ(seen, (Outcomes{"3"}));
}

TEST(Updates, LoadAndStoreLose) {
  const Outcomes seen = outcomes([] {
    Atomic<int> x{0};
    for (int t = 0; t < 2; ++t) {
      spawn([&] { x.store(x.load(kSeqCst) + 1, kSeqCst); });
    }
    join();
    return digits(x.load(kRelaxed));
  });
  EXPECT_EQ(seen, (Outcomes{"1", "2"}));
}

// SB with updates that change nothing: they read the newest, so both can't miss the other's store.
TEST(Updates, ReadTheNewest) {
  const Outcomes seen = outcomes([] {
    Atomic<int> x{0}, y{0};
    int a = 0, b = 0;
    spawn([&] {
      x.fetch_add(1, kRelaxed);
      a = y.fetch_add(0, kRelaxed);
    });
    spawn([&] {
      y.fetch_add(1, kRelaxed);
      b = x.fetch_add(0, kRelaxed);
    });
    join();
    return digits(a, b);
  });
  EXPECT_EQ(seen, all_but(2, {"00"}));
}

// Of two swaps from the same value one succeeds; the other may fail on a stale reading of nothing
// but what differs from the expected.
TEST(Updates, OneSwapWins) {
  const Outcomes seen = outcomes([] {
    Atomic<int> x{0};
    int a = 0, b = 0;
    spawn([&] { x.compare_exchange_strong(a, 1, kRelaxed, kRelaxed); });
    spawn([&] { x.compare_exchange_strong(b, 2, kRelaxed, kRelaxed); });
    join();
    return digits(x.load(kRelaxed), a, b);
  });
  EXPECT_EQ(seen, (Outcomes{"101", "220"}));
}

// A failing swap is a load: it may read an older value, if that isn't the expected one.
TEST(Updates, FailingSwapMayBeStale) {
  const Outcomes seen = outcomes([] {
    Atomic<int> x{0};
    int a = 5;
    spawn([&] {
      x.store(1, kRelaxed);
      x.store(2, kRelaxed);
    });
    spawn([&] { x.compare_exchange_strong(a, 7, kRelaxed, kRelaxed); });
    join();
    return digits(a);
  });
  EXPECT_EQ(seen, (Outcomes{"0", "1", "2"}));
}

// Failure order: a failing swap that acquires synchronizes, one that is relaxed does not.
TEST(Updates, FailureOrderCounts) {
  for (const Order failure : {kRelaxed, kAcquire}) {
    const Outcomes seen = outcomes([=] {
      Atomic<int> data{0}, x{0};
      int f = 0, d = 1;
      spawn([&] {
        data.store(1, kRelaxed);
        x.store(1, kRelease);
      });
      spawn([&] {
        x.compare_exchange_strong(f, 2, kAcqRel, failure);
        if (f == 1) d = data.load(kRelaxed);
      });
      join();
      return digits(f, d);
    });
    EXPECT_EQ(seen.count("10"), failure == kRelaxed ? 1u : 0u);
    EXPECT_EQ(seen.count("11"), 1u);
    EXPECT_EQ(seen.count("01"), 1u);
  }
}

// Narrow types, signed ones, pointers and enums keep their values; arithmetic wraps in the type.
TEST(Updates, KeepTheirTypes) {
  const Outcomes seen = outcomes([] {
    enum class Colour : uint8_t { kRed = 1, kGreen };
    Atomic<uint8_t> byte{255};
    Atomic<int32_t> number{-1};
    Atomic<Colour> colour{Colour::kRed};
    Atomic<int*> pointer{nullptr};
    int target = 3;
    bool right = false;
    spawn([&] {
      byte.fetch_add(2, kRelaxed);
      number.fetch_sub(1, kRelaxed);
      colour.store(Colour::kGreen, kRelaxed);
      pointer.store(&target, kRelaxed);
    });
    spawn([&] {
      byte.load(kRelaxed);
      number.load(kRelaxed);
      colour.load(kRelaxed);
      pointer.load(kRelaxed);
    });
    join();
    right = byte.load(kRelaxed) == 1 && number.load(kRelaxed) == -2 &&
            colour.exchange(Colour::kRed, kRelaxed) == Colour::kGreen &&
            *pointer.load(kRelaxed) == 3;
    return digits(right ? 1 : 0);
  });
  EXPECT_EQ(seen, (Outcomes{"1"}));
}

// x and y together || x, then y || the same in the other order. Acquired, either half tells of the
// other; relaxed, nothing does.
Outcomes both_at_once(Order order) {
  return outcomes([=] {
    Atomic<uint64_t> x{0}, y{0};
    uint64_t a = 0, b = 0, c = 0, d = 0;
    spawn([&] {
      const auto half = [](void* at) -> Access {
        return {at, 8, Kind::kSwap, kAcqRel, __FILE__, __LINE__};
      };
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

// Two of them: one finds what it expects, the other what the first left, and leaves it.
TEST(Updates, OfTwoLocationsExcludeEachOther) {
  const Outcomes seen = outcomes([] {
    Atomic<uint64_t> x{0}, y{0};
    bool done[2] = {};
    for (uint64_t t = 0; t < 2; ++t) {
      spawn([&x, &y, &done, t] {
        const auto half = [](void* at) -> Access {
          return {at, 8, Kind::kSwap, kAcqRel, __FILE__, __LINE__};
        };
        Bits expected = {0, 0};
        done[t] = access::swap_both(half(&x), half(&y), expected, {t + 1, t + 3});
        expect(expected == (done[t] ? Bits{0, 0} : Bits{2 - t, 4 - t}), "what was there");
      });
    }
    join();
    return digits(done[0], done[1], x.load(kRelaxed), y.load(kRelaxed));
  });
  EXPECT_EQ(seen, (Outcomes{"1013", "0124"}));
}

}  // namespace
}  // namespace attrcache::model::litmus
