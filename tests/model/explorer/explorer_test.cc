// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What else the explorer detects or does: memory, races, deadlock, bounds, replay.

#include "platform/memory.h"
#include "platform/wait.h"
#include "tests/model/explorer/litmus.h"
#include "tests/model/explorer/plain.h"

namespace attrcache::model::litmus {
namespace {

template <typename Program>
std::string failure_of(Program program) {
  return explore({.quiet = true}, program).failure;
}

TEST(Explorer, SeesAccessToReleasedMemory) {
  const auto program = [](Order order) {
    return [order] {
      auto* cell = kProcessMemory.make<Atomic<int>>();
      Atomic<int> users{2};
      for (int t = 0; t < 2; ++t) {
        spawn([cell, &users, order] {
          cell->load(kRelaxed);
          if (users.fetch_sub(1, order) == 1) kProcessMemory.release(cell);
        });
      }
      join();
    };
  };
  EXPECT_EQ(failure_of(program(kAcqRel)), "");
  EXPECT_EQ(failure_of(program(kAcquire)),
            "release of memory to which another thread's access does not happen before");
  EXPECT_EQ(failure_of(program(kRelease)),
            "release of memory to which another thread's access does not happen before");
  EXPECT_EQ(failure_of([] {
              auto* cell = kProcessMemory.make<Atomic<int>>();
              Atomic<bool> gone{false};
              spawn([&] {
                if (gone.load(kAcquire)) cell->load(kRelaxed);
              });
              spawn([&] {
                kProcessMemory.release(cell);
                gone.store(true, kRelease);
              });
              join();
            }),
            "access to released memory");
}

TEST(Explorer, SeesDoubleReleaseAndLeaks) {
  EXPECT_EQ(failure_of([] {
              void* memory = kProcessMemory.allocate_zeroed(8);
              kProcessMemory.release(memory);
              kProcessMemory.release(memory);
            }),
            "memory released twice");
  EXPECT_EQ(failure_of([] { kProcessMemory.allocate_zeroed(8); }),
            "memory was not released in the end");
}

TEST(Explorer, SeesUnpublishedMemory) {
  const auto program = [](Order order) {
    return [order] {
      Atomic<Atomic<int>*> shared{nullptr};
      spawn([&] { shared.store(kProcessMemory.make<Atomic<int>>(7), order); });
      spawn([&] {
        Atomic<int>* cell = shared.load(kAcquire);
        if (cell != nullptr) expect(cell->load(kRelaxed) == 7, "made before it is shared");
      });
      join();
      kProcessMemory.release(shared.load(kRelaxed));
    };
  };
  EXPECT_EQ(failure_of(program(kRelease)), "");
  EXPECT_EQ(failure_of(program(kRelaxed)),
            "access to memory whose allocation does not happen before");
}

TEST(Explorer, SeesRacesInWhicheverOrder) {
  const auto program = [](Order order) {
    return [order] {
      Plain<int> cell;
      Atomic<bool> ready{false};
      spawn([&] {
        cell.write(1);
        ready.store(true, order);
      });
      spawn([&] {
        if (ready.load(kAcquire)) expect(cell.read() == 1, "it was written");
      });
      join();
    };
  };
  EXPECT_EQ(failure_of(program(kRelease)), "");
  EXPECT_EQ(failure_of(program(kRelaxed)), "race: a write, and this read");
  EXPECT_EQ(failure_of([] {
              Plain<int> cell;
              spawn([&] { cell.read(); });
              spawn([&] { cell.write(1); });
              join();
            }),
            "race: a read, and this write");
}

TEST(Explorer, WaitsForStoresAndSeesDeadlock) {
  const Result handshake = explore({}, [] {
    Atomic<int> x{0};
    spawn([&] {
      Backoff backoff;
      while (x.load(kAcquire) != 1) backoff.relax();
      x.store(2, kRelease);
    });
    spawn([&] {
      x.store(1, kRelease);
      Backoff backoff;
      while (x.load(kAcquire) != 2) backoff.relax();
    });
    join();
    expect(x.load(kRelaxed) == 2, "both have moved");
  });
  EXPECT_TRUE(handshake.ok());
  EXPECT_EQ(failure_of([] {
              Atomic<int> x{0}, y{0};
              spawn([&] {
                Backoff backoff;
                while (y.load(kAcquire) == 0) backoff.relax();
                x.store(1, kRelease);
              });
              spawn([&] {
                Backoff backoff;
                while (x.load(kAcquire) == 0) backoff.relax();
                y.store(1, kRelease);
              });
              join();
            }),
            "deadlock: every thread waits");
}

// An atomicity violation that takes three preemptions: found with a bound of 3, not of 2; and its
// replay string finds it again at once.
TEST(Explorer, KeepsToItsBoundAndReplays) {
  const auto program = [] {
    Atomic<int> x{0};
    spawn([&] {
      const int a = x.load(kRelaxed);
      const int b = x.load(kRelaxed);
      const int c = x.load(kRelaxed);
      expect(!(a == 0 && b == 1 && c == 2), "two stores came between the loads, apart");
    });
    spawn([&] {
      x.store(1, kRelaxed);
      x.store(2, kRelaxed);
    });
    join();
  };
  EXPECT_TRUE(explore({.preemptions = 2, .stale_reads = 0, .quiet = true}, program).ok());
  const Result found = explore({.preemptions = 3, .stale_reads = 0, .quiet = true}, program);
  EXPECT_NE(found.failure, "");
  const Result again = explore({.replay = found.replay.c_str(), .quiet = true}, program);
  EXPECT_EQ(again.failure, found.failure);
  EXPECT_EQ(again.replay, found.replay);
  EXPECT_NE(failure_of(program), "");
}

// A thread that needs a lock waits for ever if its holder has stopped; one that only looks at what
// the holder wrote does not.
TEST(Explorer, StopsTheFirstThreadAnywhere) {
  const auto explore_beside = [](auto other) {
    const Options options = {.preemptions = 1, .first_may_stop = true, .quiet = true};
    return explore(options, [other] {
      Atomic<int> locked{0};
      spawn([&] {
        locked.store(1, kRelease);
        locked.store(0, kRelease);
      });
      spawn([&locked, other] { other(locked); });
      join();
    });
  };
  const Result waits = explore_beside([](Atomic<int>& locked) {
    for (Backoff backoff; locked.load(kAcquire) != 0;) backoff.relax();
  });
  EXPECT_EQ(waits.failure, "deadlock: every thread waits");
  const Result looks = explore_beside([](Atomic<int>& locked) { locked.load(kAcquire); });
  EXPECT_TRUE(looks.ok());
}

TEST(Explorer, RunsEachInterleavingOnce) {
  const Result result = explore({.preemptions = 1000}, [] {
    Atomic<int> x{0}, y{0};
    for (int t = 0; t < 3; ++t) {
      spawn([&] {
        x.fetch_add(1, kAcqRel);
        y.fetch_add(1, kAcqRel);
        x.fetch_add(1, kAcqRel);
      });
    }
    join();
  });
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.executions, 1680u);  // 9! / (3!)^3
}

}  // namespace
}  // namespace attrcache::model::litmus
