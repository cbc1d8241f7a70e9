// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The explorer on the shapes whose outcomes the C++20 memory model is known to allow: it must see
// each of them, and nothing else. An outcome is the digits of what the loads read, in the order in
// which the threads are written.

#include "tests/model/explorer/litmus.h"

namespace attrcache::model::litmus {
namespace {

// MP: data = 1; flag = 1 || read flag; read data
Outcomes message_passing(Order publish, Order consume) {
  return outcomes([=] {
    Atomic<int> data{0}, flag{0};
    int f = 0, d = 0;
    spawn([&] {
      data.store(1, kRelaxed);
      flag.store(1, publish);
    });
    spawn([&] {
      f = flag.load(consume);
      d = data.load(kRelaxed);
    });
    join();
    return digits(f, d);
  });
}

TEST(Litmus, MessagePassing) {
  const Outcomes ordered = all_but(2, {"10"});
  const Outcomes all = all_but(2, {});
  EXPECT_EQ(message_passing(kRelaxed, kRelaxed), all);
  EXPECT_EQ(message_passing(kRelease, kRelaxed), all);
  EXPECT_EQ(message_passing(kRelaxed, kAcquire), all);
  EXPECT_EQ(message_passing(kRelease, kAcquire), ordered);
  EXPECT_EQ(message_passing(kSeqCst, kSeqCst), ordered);
  EXPECT_EQ(message_passing(kSeqCst, kRelaxed), all);
}

// SB: x = 1; read y || y = 1; read x
Outcomes store_buffering(Order store, Order load) {
  return outcomes([=] {
    Atomic<int> x{0}, y{0};
    int a = 0, b = 0;
    spawn([&] {
      x.store(1, store);
      a = y.load(load);
    });
    spawn([&] {
      y.store(1, store);
      b = x.load(load);
    });
    join();
    return digits(a, b);
  });
}

TEST(Litmus, StoreBuffering) {
  EXPECT_EQ(store_buffering(kRelaxed, kRelaxed), all_but(2, {}));
  EXPECT_EQ(store_buffering(kRelease, kAcquire), all_but(2, {}));
  EXPECT_EQ(store_buffering(kSeqCst, kAcquire), all_but(2, {}));
  EXPECT_EQ(store_buffering(kRelease, kSeqCst), all_but(2, {}));
  EXPECT_EQ(store_buffering(kSeqCst, kSeqCst), all_but(2, {"00"}));
}

// LB: read x; y = 1 || read y; x = 1. C++ allows 11 with relaxed orders, and no processor that the
// library runs on and no compiler that honours dependencies produces it from its code. Here a load
// reads what has been executed only, so 11 is never seen, whatever the orders: what a model proves,
// it proves for executions without it.
TEST(Litmus, LoadBuffering) {
  for (const Order order : {kRelaxed, kSeqCst}) {
    const Outcomes seen = outcomes([=] {
      Atomic<int> x{0}, y{0};
      int a = 0, b = 0;
      spawn([&] {
        a = x.load(order);
        y.store(1, order);
      });
      spawn([&] {
        b = y.load(order);
        x.store(1, order);
      });
      join();
      return digits(a, b);
    });
    EXPECT_EQ(seen, all_but(2, {"11"}));
  }
}

// IRIW: x = 1 || y = 1 || read x; read y || read y; read x
Outcomes independent_reads(Order store, Order load) {
  return outcomes([=] {
    Atomic<int> x{0}, y{0};
    int a = 0, b = 0, c = 0, d = 0;
    spawn([&] { x.store(1, store); });
    spawn([&] { y.store(1, store); });
    spawn([&] {
      a = x.load(load);
      b = y.load(load);
    });
    spawn([&] {
      c = y.load(load);
      d = x.load(load);
    });
    join();
    return digits(a, b, c, d);
  });
}

TEST(Litmus, IndependentReadsOfIndependentWrites) {
  EXPECT_EQ(independent_reads(kRelaxed, kRelaxed), all_but(4, {}));
  EXPECT_EQ(independent_reads(kRelease, kAcquire), all_but(4, {}));
  EXPECT_EQ(independent_reads(kSeqCst, kAcquire), all_but(4, {}));
  EXPECT_EQ(independent_reads(kSeqCst, kSeqCst), all_but(4, {"1010"}));
}

// WRC: x = 1 || read x; y = 1 || read y; read x
Outcomes write_to_read(Order store, Order load) {
  return outcomes([=] {
    Atomic<int> x{0}, y{0};
    int a = 0, b = 0, c = 0;
    spawn([&] { x.store(1, kRelaxed); });
    spawn([&] {
      a = x.load(kRelaxed);
      y.store(1, store);
    });
    spawn([&] {
      b = y.load(load);
      c = x.load(kRelaxed);
    });
    join();
    return digits(a, b, c);
  });
}

TEST(Litmus, WriteToReadCausality) {
  EXPECT_EQ(write_to_read(kRelaxed, kRelaxed), all_but(3, {}));
  // What a has read, c may not miss.
  EXPECT_EQ(write_to_read(kRelease, kAcquire), all_but(3, {"110"}));
}

// CoRR: x = 1 || read x; read x. Coherence holds whatever the orders.
TEST(Litmus, CoherenceOfReads) {
  for (const Order order : {kRelaxed, kAcquire, kSeqCst}) {
    const Outcomes seen = outcomes([=] {
      Atomic<int> x{0};
      int a = 0, b = 0;
      spawn([&] { x.store(1, kRelaxed); });
      spawn([&] {
        a = x.load(order);
        b = x.load(order);
      });
      join();
      return digits(a, b);
    });
    EXPECT_EQ(seen, all_but(2, {"10"}));
  }
}

// CoWR: x = 1; read x || x = 2. The own store or a later one, never the initial 0.
TEST(Litmus, CoherenceOfWriteAndRead) {
  for (const Order order : {kRelaxed, kSeqCst}) {
    const Outcomes seen = outcomes([=] {
      Atomic<int> x{0};
      int a = 0;
      spawn([&] {
        x.store(1, order);
        a = x.load(order);
      });
      spawn([&] { x.store(2, order); });
      join();
      return digits(a, x.load(order));
    });
    EXPECT_EQ(seen, (Outcomes{"11", "12", "22"}));
  }
}

// CoRR of two readers: they don't disagree on the order of two stores.
TEST(Litmus, CoherenceAgreesBetweenReaders) {
  const Outcomes seen = outcomes([] {
    Atomic<int> x{0};
    int a = 0, b = 0, c = 0, d = 0;
    spawn([&] { x.store(1, kRelaxed); });
    spawn([&] { x.store(2, kRelaxed); });
    spawn([&] {
      a = x.load(kRelaxed);
      b = x.load(kRelaxed);
    });
    spawn([&] {
      c = x.load(kRelaxed);
      d = x.load(kRelaxed);
    });
    join();
    return digits(a, b, c, d);
  });
  EXPECT_EQ(seen.count("1221"), 0u);
  EXPECT_EQ(seen.count("2112"), 0u);
  EXPECT_EQ(seen.count("1212"), 1u);
  EXPECT_EQ(seen.count("2121"), 1u);
  EXPECT_EQ(seen.count("0000"), 1u);
  // Of 81: each pair is one of 00 01 02 11 12 21 22, and the two contradictions are out.
  EXPECT_EQ(seen.size(), 7u * 7u - 2u);
}

// 2+2W: x = 1; y = 2 || y = 1; x = 2. With relaxed or release stores C++ allows both first stores
// to be the last in modification order. Here modification order is execution order: never seen.
TEST(Litmus, TwoPlusTwoWrites) {
  for (const Order order : {kRelaxed, kRelease, kSeqCst}) {
    const Outcomes seen = outcomes([=] {
      Atomic<int> x{0}, y{0};
      spawn([&] {
        x.store(1, order);
        y.store(2, order);
      });
      spawn([&] {
        y.store(1, order);
        x.store(2, order);
      });
      join();
      return digits(x.load(order), y.load(order));
    });
    EXPECT_EQ(seen, (Outcomes{"12", "21", "22"}));
  }
}

// R: x = 1; y = 1 || y = 2; read x. Only seq_cst forbids y = 2 last and x unseen.
TEST(Litmus, StoreThenRead) {
  for (const Order order : {kRelaxed, kSeqCst}) {
    const Outcomes seen = outcomes([=] {
      Atomic<int> x{0}, y{0};
      int a = 0;
      spawn([&] {
        x.store(1, order);
        y.store(1, order);
      });
      spawn([&] {
        y.store(2, order);
        a = x.load(order);
      });
      join();
      return digits(y.load(order), a);
    });
    EXPECT_EQ(seen.count("20"), order == kSeqCst ? 0u : 1u);
    EXPECT_EQ(seen.count("10"), 1u);
    EXPECT_EQ(seen.count("11"), 1u);
    EXPECT_EQ(seen.count("21"), 1u);
  }
}

}  // namespace
}  // namespace attrcache::model::litmus
