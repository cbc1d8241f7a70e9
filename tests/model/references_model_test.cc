// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The striped references on their own: exactly one call is told that it has dropped the last one,
// and nobody gets a reference on a keyval that is gone or of another generation.

#include "keyval/references.h"
#include "platform/thread.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

constexpr unsigned kStripes = 2;
constexpr uint32_t key(unsigned generation) { return id::make(0, generation, 0); }

// A keyval's counters, and the keyval itself: whoever holds a reference reads it, its end writes
// it.
struct Counted {
  References::Counter exact{0};
  References::Counter stripes[kStripes];
  Plain<int> keyval{1};
  int ended = 0;

  References::Stripes all() { return {stripes, 0, kStripes - 1}; }
  References references() { return {exact, all()}; }
  References::Counter& mine() { return all().of(thread_ordinal()); }
  void end() {
    keyval.write(0);
    ++ended;
    expect(ended == 1, "a keyval ends once");
  }
  bool take(unsigned generation) {
    if (!references().acquire(key(generation), thread_ordinal())) return false;
    expect(keyval.read() == 1, "who holds a reference finds the keyval");
    return true;
  }
  void drop() {
    keyval.read();
    if (References::drop_open(mine())) return;
    if (references().drop_closed()) end();
  }
  // As Registry::free does it.
  void close(unsigned generation = 3) {
    const uint32_t counted = references().close_stripes();
    if (counted == 0 && references().end_unused(key(generation))) return end();
    if (references().close_exact(counted)) end();
  }
};

TEST(References, CloseAgainstTakeAndDrop) {
  run_model({}, [] {
    Counted c;
    c.references().reset(key(3));
    for (int t = 0; t < 2; ++t) {
      spawn([&c] {
        if (c.take(3)) c.drop();
      });
    }
    spawn([&c] { c.close(); });
    join();
    expect(c.ended == 1, "closed and unused: ended");
    expect(c.references().count() == 0, "none is left");
    expect(!c.references().acquire(key(3), 1), "none can be taken");
  });
}

// Taken on one stripe, dropped on another: single stripes go below zero.
TEST(References, CloseAgainstDropElsewhere) {
  run_model({}, [] {
    Counted c;
    c.references().reset(key(3));
    expect(c.take(3) && c.take(3), "alive");
    spawn([&c] { c.drop(); });
    spawn([&c] { c.drop(); });
    spawn([&c] { c.close(); });
    join();
    expect(c.ended == 1, "ended by the last");
  });
}

TEST(References, WhatIsHeldKeepsItAlive) {
  run_model({}, [] {
    Counted c;
    c.references().reset(key(3));
    expect(c.take(3), "alive");
    spawn([&c] {
      expect(c.take(3), "somebody holds a reference, so another can be had");
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
  run_model({}, [] {
    Counted c;
    c.references().reset(key(3));
    spawn([&c] {
      const uint64_t word = c.mine().load(kRelaxed);  // as dup and set do
      if (((word ^ key(3)) & stripe::kKeyval) == 0 && References::acquire_open(c.mine(), word)) {
        expect(c.keyval.read() == 1, "who holds a reference finds the keyval");
        c.drop();
      }
    });
    spawn([&c] { c.close(); });
    join();
    expect(c.ended == 1, "ended");
  });
}

// Counting while others take and drop: never more than there can be.
TEST(References, Count) {
  run_model({}, [] {
    Counted c;
    c.references().reset(key(3));
    spawn([&c] {
      if (c.take(3)) c.drop();
    });
    spawn([&c] { c.close(); });
    spawn([&c] { expect(c.references().count() <= 1, "at most one is taken"); });
    join();
  });
}

// The next generation begins while somebody still asks for the last.
TEST(References, StaleTakeAgainstNextGeneration) {
  run_model({}, [] {
    Counted c;
    c.references().reset(key(3));
    Plain<int> next{0};
    Atomic<int> number{0};
    spawn([&] {
      c.close();
      next.write(4);
      c.references().reset(key(4));
      number.store(4, kRelaxed);  // the references alone order what the creator wrote
    });
    spawn([&] {
      if (c.references().acquire(key(3), thread_ordinal())) {
        expect(c.keyval.read() == 1, "the old one was alive");
        if (!References::drop_open(c.mine()) && c.references().drop_closed()) c.end();
      }
    });
    spawn([&] {
      if (number.load(kRelaxed) == 4 && c.references().acquire(key(4), thread_ordinal())) {
        expect(next.read() == 4, "the new one is there");
      }
    });
    join();
  });
}

// Who is told that a keyval is gone sees what was done before it went: its last value deleted.
// Whether that was before the keyval was freed, after, or before the next generation began.
TEST(References, GoneIsAfterTheLastValue) {
  enum class Last { kBeforeFree, kAfterFree, kBeforeNext, kAfterFreeBeforeNext };
  for (const Last last :
       {Last::kBeforeFree, Last::kAfterFree, Last::kBeforeNext, Last::kAfterFreeBeforeNext}) {
    run_model({}, [last] {
      Counted c;
      c.references().reset(key(3));
      expect(c.take(3), "the value's reference");
      Atomic<int> attached{1};
      spawn([&, last] {
        const bool free_first = last == Last::kAfterFree || last == Last::kAfterFreeBeforeNext;
        if (free_first) c.close();
        attached.store(0, kRelaxed);
        c.drop();
        if (!free_first) c.close();
        if (last == Last::kBeforeNext || last == Last::kAfterFreeBeforeNext) {
          c.references().reset(key(4));
        }
      });
      spawn([&] {
        if (c.references().acquire(key(3), thread_ordinal())) {
          if (!References::drop_open(c.mine()) && c.references().drop_closed()) c.end();
        } else {
          expect(attached.load(kRelaxed) == 0, "gone: nothing is attached any more");
        }
      });
      join();
    });
  }
}

// The same where the one who deletes the last value, the one who frees the keyval, and the one who
// is told are three: on a stripe that was closed before the last value's or after it.
TEST(References, GoneIsAfterADropElsewhere) {
  for (const bool told_first : {false, true}) {
    run_model({}, [told_first] {
      Counted c;
      c.references().reset(key(3));
      expect(c.take(3), "the value's reference");
      Atomic<int> attached{1};
      const auto asks = [&] {
        if (c.references().acquire(key(3), thread_ordinal())) {
          if (!References::drop_open(c.mine()) && c.references().drop_closed()) c.end();
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

}  // namespace
}  // namespace attrcache::model
