// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The striped references by themselves: exactly one call learns that it has dropped the last one,
// and no thread gets a reference on a keyval that is gone or of another generation. Each model is
// explored with no stripe open at first, and with all of them open.

#include "keyval/references.h"
#include "platform/thread.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

constexpr unsigned kStripes = 2;
constexpr id::Keyval key(unsigned generation) { return id::make(0, generation, 0); }

// kNoneAgain: they were open in the generation before.
enum class Stripes { kNoneOpen, kNoneAgain, kAllOpen };

// A keyval's counters, and the keyval itself, which holders of a reference read and its end writes.
template <unsigned kCount = kStripes>
struct CountedIn {
  References::Counter exact{0};
  References::Counter stripes[kCount];
  Plain<int> keyval{1};
  int ended = 0;

  explicit CountedIn(Stripes first) {
    References::reset(exact, key(3));
    if (first == Stripes::kNoneAgain) {
      for (References::Counter& stripe : stripes)
        stripe.store(stripe::bits(stripe::shut(key(2))), kRelaxed);
    }
    if (first != Stripes::kAllOpen) return;
    for (unsigned ordinal = 0; ordinal < kCount; ++ordinal) open(3, ordinal);
  }
  References::Stripes all() { return {stripes, 0, kCount - 1}; }
  References references() { return {exact, all()}; }
  References::Counter& mine() { return all().of(thread_ordinal()); }
  void end() {
    keyval.write(0);
    ++ended;
    expect(ended == 1, "a keyval ends once");
  }
  void open(unsigned generation, unsigned ordinal) {
    references().open(ordinal, key(generation), 0);
  }
  // As in Registry.
  bool acquire(unsigned generation) {
    stripe::Name name;
    if (References::acquire_open(mine(), key(generation), &name)) return true;
    if (!references().acquire_exact(key(generation))) return false;
    open(generation, thread_ordinal());
    return true;
  }
  bool take(unsigned generation) {
    if (!acquire(generation)) return false;
    expect(keyval.read() == 1, "a holder of a reference finds the keyval");
    return true;
  }
  void drop(unsigned generation = 3) {
    keyval.read();
    if (References::drop_open(mine())) return;
    open(generation, thread_ordinal());
    if (references().drop_exact()) end();
  }
  void close(unsigned generation = 3) {
    if (References::end_unused(exact, key(generation))) return end();
    close_slowly(generation);
  }
  // Called by one thread only, the one that has freed the keyval first.
  void close_slowly(unsigned generation = 3) {
    if (references().close(key(generation)) == References::Closed::kEnded) end();
  }
  // Two threads, each of which takes a reference, unless the keyval is gone, and drops it.
  void spawn_users() {
    for (int t = 0; t < 2; ++t) {
      spawn([this] {
        if (take(3)) drop();
      });
    }
  }
};
using Counted = CountedIn<>;

// Explores up to `bound` if stripes are opened as well; completely, or up to `open`, if all are
// open.
template <typename Threads>
void run_both(Bound bound, Threads threads, Bound open = {}) {
  run_model(bound, [threads] { threads(Stripes::kNoneOpen); });
  run_model(open, [threads] { threads(Stripes::kAllOpen); });
}
constexpr Bound kOpening = {2, 2};

TEST(References, CloseAgainstTakeAndDrop) {
  run_both({2, 2},
           [](Stripes first) {
             Counted c(first);
             c.spawn_users();
             spawn([&c] { c.close(); });
             join();
             expect(c.ended == 1, "closed and unused: ended");
             expect(c.references().count() == 0, "none is left");
             expect(!c.acquire(3), "none can be taken");
           },
           {2});
}

// Taken on one stripe and dropped on another: single stripes go below zero.
TEST(References, CloseAgainstDropElsewhere) {
  run_both(kOpening, [](Stripes first) {
    Counted c(first);
    expect(c.take(3) && c.take(3), "alive");
    spawn([&c] { c.drop(); });
    spawn([&c] { c.drop(); });
    spawn([&c] { c.close(); });
    join();
    expect(c.ended == 1, "ended by the last");
  });
}

TEST(References, WhatIsHeldKeepsItAlive) {
  run_both(kOpening, [](Stripes first) {
    Counted c(first);
    expect(c.take(3), "alive");
    spawn([&c] {
      expect(c.take(3), "a reference is held, so another can be taken");
      c.drop();
    });
    spawn([&c] { c.close(); });
    join();
    expect(c.ended == 0, "one is held");
    expect(c.references().count() == 1, "one is held");
    c.drop();
    expect(c.ended == 1, "that was the last");
  });
}

TEST(References, TakenAtOnceOrNot) {
  run_both(kOpening, [](Stripes first) {
    Counted c(first);
    spawn([&c] {
      const uint64_t word = c.mine().load(kRelaxed);  // as dup and set do
      if (stripe::names(stripe::name_in(word), key(3)) &&
          References::acquire_open(c.mine(), word)) {
        expect(c.keyval.read() == 1, "a holder of a reference finds the keyval");
        c.drop();
      }
    });
    spawn([&c] { c.close(); });
    join();
    expect(c.ended == 1, "ended");
  });
}

// A count while others take and drop is never more than there can be.
TEST(References, Count) {
  run_both(kOpening,
           [](Stripes first) {
             Counted c(first);
             spawn([&c] {
               if (c.take(3)) c.drop();
             });
             spawn([&c] { c.close(); });
             spawn([&c] { expect(c.references().count() <= 1, "at most one is taken"); });
             join();
           },
           {2});
}

// The next generation begins while a thread still tries to take one of the last.
TEST(References, StaleTakeAgainstNextGeneration) {
  run_both(kOpening,
           [](Stripes first) {
             Counted c(first);
             Plain<int> next{0};
             Atomic<int> number{0};
             spawn([&, first] {
               c.close();
               next.write(4);
               References::reset(c.exact, key(4));
               if (first == Stripes::kAllOpen) {
                 for (const unsigned ordinal : {0u, 1u}) c.open(4, ordinal);
               }
               number.store(4, kRelaxed);  // the references alone order what the creator wrote
             });
             spawn([&] {
               if (c.acquire(3)) {
                 expect(c.keyval.read() == 1, "the old one was alive");
                 c.drop();
               }
             });
             spawn([&] {
               if (number.load(kRelaxed) == 4 && c.acquire(4)) {
                 expect(next.read() == 4, "the new one is there");
               }
             });
             join();
           },
           {2});
}

// A thread that learns that a keyval is gone sees what was done before, such as the deletion of its
// last value, whether that was before the keyval was freed, after, or before the next generation.
TEST(References, GoneIsAfterTheLastValue) {
  enum class Last { kBeforeFree, kAfterFree, kBeforeNext, kAfterFreeBeforeNext };
  for (const Last last :
       {Last::kBeforeFree, Last::kAfterFree, Last::kBeforeNext, Last::kAfterFreeBeforeNext}) {
    run_both(kOpening, [last](Stripes first) {
      Counted c(first);
      expect(c.take(3), "the value's reference");
      Atomic<int> attached{1};
      spawn([&, last] {
        const bool free_first = last == Last::kAfterFree || last == Last::kAfterFreeBeforeNext;
        if (free_first) c.close();
        attached.store(0, kRelaxed);
        c.drop();
        if (!free_first) c.close();
        if (last == Last::kBeforeNext || last == Last::kAfterFreeBeforeNext) {
          References::reset(c.exact, key(4));
        }
      });
      spawn([&] {
        if (c.acquire(3)) {
          c.drop();
        } else {
          expect(attached.load(kRelaxed) == 0, "gone: nothing is attached any more");
        }
      });
      join();
    });
  }
}

// The same if one thread deletes the last value, one frees the keyval, and a third learns of it: on
// a stripe that was closed before the last value's or after it.
TEST(References, GoneIsAfterADropElsewhere) {
  for (const bool told_first : {false, true}) {
    run_both(kOpening, [told_first](Stripes first) {
      Counted c(first);
      expect(c.take(3), "the value's reference");
      Atomic<int> attached{1};
      const auto asks = [&] {
        if (c.acquire(3)) {
          c.drop();
        } else {
          expect(attached.load(kRelaxed) == 0, "gone: nothing is attached any more");
        }
      };
      if (told_first) spawn(asks);
      spawn([&] {
        attached.store(0, kRelaxed);
        c.drop();
      });
      if (!told_first) spawn(asks);
      spawn([&] { c.close(); });
      join();
      expect(c.ended == 1, "ended");
    });
  }
}

// Two threads open one stripe, or two stripes of one bit, while the keyval is freed.
TEST(References, OpenedAgainstClose) {
  static_assert(References::kBits == 2, "stripes 1 and 3 have the same bit");
  for (const unsigned other : {1u, 3u}) {
    for (const Stripes first : {Stripes::kNoneOpen, Stripes::kNoneAgain}) {
      run_model({2, 2}, [first, other] {
        CountedIn<4> c(first);
        for (const unsigned s : {1u, other}) {
          c.references().acquire_exact(key(3));
          spawn([&c, s] {
            c.open(3, s);
            if (!References::drop_open(c.stripes[s])) c.references().drop_exact();
            c.references().count();
          });
        }
        c.references().acquire_exact(key(3));
        spawn([&c] { c.close(); });
        join();
        for (const unsigned s : {1u, 3u}) {
          expect(!References::is_open(c.stripes[s]), "closed, or not opened");
          stripe::Name name;
          expect(!References::acquire_open(c.stripes[s], key(3), &name), "none is taken there");
        }
        expect(c.references().count() == 1 && c.ended == 0, "one is held");
        c.drop();
        expect(c.ended == 1, "that was the last");
      });
    }
  }
}

TEST(References, AStripeThatWasShutIsOpenedInTheNextGeneration) {
  run_model({}, [] {
    CountedIn<1> c(Stripes::kNoneAgain);
    expect(c.references().acquire_exact(key(3)), "alive");
    c.open(3, 0);
    expect(References::is_open(c.stripes[0]), "opened");
    expect(c.take(3), "taken there");
    expect(c.references().count() == 2, "two are held");
  });
}

// A stripe that was last opened 256 generations ago: the exact count does as well.
TEST(References, ShutInAGenerationOfTheSameNumber) {
  run_model({2, 2}, [] {
    CountedIn<1> c(Stripes::kNoneOpen);
    c.stripes[0].store(stripe::bits(stripe::shut(key(3))), kRelaxed);
    c.spawn_users();
    spawn([&c] { c.close(); });
    join();
    expect(c.ended == 1, "ended");
  });
}

// Threads of one stripe: while one opens it, the others go on.
TEST(References, OneStripeForAll) {
  for (const Stripes first : {Stripes::kNoneOpen, Stripes::kNoneAgain})
    run_model({2, 1}, [first] {
      CountedIn<1> c(first);
      expect(c.references().acquire_exact(key(3)), "alive");
      c.spawn_users();
      spawn([&c] {
        c.drop();
        c.close();
      });
      join();
      expect(c.ended == 1, "ended");
    });
}

// A free is overtaken by another, which finds the keyval unused, and by the next generation.
TEST(References, ClosedByAnotherMeanwhile) {
  for (const bool next : {false, true}) {
    run_model({}, [next] {
      Counted c(Stripes::kNoneOpen);
      spawn([&c] { c.close_slowly(); });
      spawn([&c, next] {
        if (!References::end_unused(c.exact, key(3))) return;
        c.end();
        if (next) References::reset(c.exact, key(4));
      });
      join();
      expect(c.ended == 1, "ended");
      expect(!c.acquire(3), "none can be taken");
      if (next && (c.exact.load(kRelaxed) & id::kGenerationMask) ==
                      (id::bits(key(4)) & id::kGenerationMask))
        expect(c.acquire(4), "the next one is alive");
    });
  }
}

// A thread that isn't the keyval's creator opens the stripe for a generation.
TEST(References, WhatTheCreatorWroteIsSeenThroughAStripe) {
  int taken = 0;
  run_model({}, [&taken] {
    Counted c(Stripes::kNoneOpen);
    c.close();
    Plain<int> next{0};
    const auto uses = [&] {
      stripe::Name name;
      if (!References::acquire_open(c.stripes[1], key(4), &name)) return;
      expect(next.read() == 4, "it is there");
      ++taken;
    };
    spawn([&] {
      next.write(4);
      References::reset(c.exact, key(4));
    });
    spawn([&] {
      if (c.references().acquire_exact(key(4))) c.open(4, 1);
    });
    spawn(uses);
    join();
  });
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace attrcache::model
