// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The explorer on the shapes whose outcomes the C++20 memory model is known to allow: it must see
// each of them, and nothing else. An outcome is the digits of what the loads read, in the order in
// which the threads are written.

#include "tests/model/explorer/litmus.h"

namespace attrcache::model::litmus {
namespace {

// MP: x = 1; y = 1 || read y; read x
TEST(Litmus, MessagePassing) {
  const auto message_passing = [](Order publish, Order consume) {
    return shape({2}, in_turn(store(x, 1, kRelaxed), store(y, 1, publish)),
                 in_turn(load(0, y, consume), load(1, x, kRelaxed)));
  };
  const Outcomes ordered = all_but(2, {"10"});
  const Outcomes all = all_but(2, {});
  EXPECT_EQ(message_passing(kRelaxed, kRelaxed), all);
  EXPECT_EQ(message_passing(kRelease, kRelaxed), all);
  EXPECT_EQ(message_passing(kRelaxed, kAcquire), all);
  EXPECT_EQ(message_passing(kRelease, kAcquire), ordered);
}

// SB: x = 1; read y || y = 1; read x. No order forbids 00; fences do (asymmetric_fence_test.cc).
TEST(Litmus, StoreBuffering) {
  const auto store_buffering = [](Order stores, Order loads) {
    return shape({2}, in_turn(store(x, 1, stores), load(0, y, loads)),
                 in_turn(store(y, 1, stores), load(1, x, loads)));
  };
  EXPECT_EQ(store_buffering(kRelaxed, kRelaxed), all_but(2, {}));
  EXPECT_EQ(store_buffering(kRelease, kAcquire), all_but(2, {}));
}

// LB: read x; y = 1 || read y; x = 1. C++ allows 11 with relaxed orders, but no processor that the
// library runs on and no compiler that honours dependencies produces it. Here a load reads only
// stores that were executed, so 11 is never seen, whatever the orders: what models prove, they
// prove for executions without it.
TEST(Litmus, LoadBuffering) {
  EXPECT_EQ(shape({2}, in_turn(load(0, x, kRelaxed), store(y, 1, kRelaxed)),
                  in_turn(load(1, y, kRelaxed), store(x, 1, kRelaxed))),
            all_but(2, {"11"}));
}

// IRIW: x = 1 || y = 1 || read x; read y || read y; read x
TEST(Litmus, IndependentReadsOfIndependentWrites) {
  const auto independent_reads = [](Order stores, Order loads) {
    return shape({4}, store(x, 1, stores), store(y, 1, stores),
                 in_turn(load(0, x, loads), load(1, y, loads)),
                 in_turn(load(2, y, loads), load(3, x, loads)));
  };
  EXPECT_EQ(independent_reads(kRelaxed, kRelaxed), all_but(4, {}));
  EXPECT_EQ(independent_reads(kRelease, kAcquire), all_but(4, {}));
}

// WRC: x = 1 || read x; y = 1 || read y; read x
TEST(Litmus, WriteToReadCausality) {
  const auto write_to_read = [](Order release, Order acquire) {
    return shape({3}, store(x, 1, kRelaxed), in_turn(load(0, x, kRelaxed), store(y, 1, release)),
                 in_turn(load(1, y, acquire), load(2, x, kRelaxed)));
  };
  EXPECT_EQ(write_to_read(kRelaxed, kRelaxed), all_but(3, {}));
  // The third must see what the second has read.
  EXPECT_EQ(write_to_read(kRelease, kAcquire), all_but(3, {"110"}));
}

// CoWR: x = 1; read x || x = 2. A thread sees its own store or a later one, never the initial 0.
TEST(Litmus, CoherenceOfWriteAndRead) {
  EXPECT_EQ(
      shape({1, {x}}, in_turn(store(x, 1, kRelaxed), load(0, x, kRelaxed)), store(x, 2, kRelaxed)),
      (Outcomes{"11", "12", "22"}));
}

// CoRR of two readers: neither goes back, and they don't disagree on the order of two stores.
TEST(Litmus, CoherenceAgreesBetweenReaders) {
  const Outcomes seen = shape({4}, store(x, 1, kRelaxed), store(x, 2, kRelaxed),
                              in_turn(load(0, x, kRelaxed), load(1, x, kRelaxed)),
                              in_turn(load(2, x, kRelaxed), load(3, x, kRelaxed)));
  EXPECT_EQ(seen.count("1221") + seen.count("2112"), 0u);
  // Of 81: each pair is one of 00 01 02 11 12 21 22, and the two contradictions are out.
  EXPECT_EQ(seen.size(), 7u * 7u - 2u);
}

// 2+2W: x = 1; y = 2 || y = 1; x = 2. With relaxed or release stores C++ allows both first stores
// to be the last in modification order. Here modification order is execution order: never seen.
TEST(Litmus, TwoPlusTwoWrites) {
  for (const Order order : {kRelaxed, kRelease}) {
    EXPECT_EQ(shape({0, {x, y}}, in_turn(store(x, 1, order), store(y, 2, order)),
                    in_turn(store(y, 1, order), store(x, 2, order))),
              (Outcomes{"12", "21", "22"}));
  }
}

}  // namespace
}  // namespace attrcache::model::litmus
