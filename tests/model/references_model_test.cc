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

bool is_open(const References::Counter& stripe) {
  return (stripe.load(kRelaxed) & stripe::kOpen) != 0;
}

// kNoneAgain: they were open in the generation before.
enum class Stripes { kNoneOpen, kNoneAgain, kAllOpen };

// A keyval's counters, and the keyval itself, which holders of a reference read and its end writes.
template <unsigned kCount = kStripes>
struct CountedIn {
  References::Counter exact{0};
  References::Counter stripes[kCount];
  Plain<int> keyval{1};
  Atomic<int> attached{1};  // its last value
  int held = 0;
  bool closed = false;
  int ended = 0;
  const Stripes first;
  void (*begin_next)(CountedIn&) = nullptr;  // the next generation, 4, once this one has ended
  Plain<int> next{0};                        // what its creator writes
  Atomic<int> number{3};

  explicit CountedIn(Stripes how) : first(how) {
    References::reset(exact, key(3));
    if (first == Stripes::kNoneAgain) {
      for (References::Counter& stripe : stripes)
        stripe.store(stripe::bits(stripe::shut(key(2))), kRelaxed);
    }
    if (first != Stripes::kAllOpen) return;
    for (unsigned ordinal = 0; ordinal < kCount; ++ordinal) open(3, ordinal);
  }
  References references() { return {exact, stripes, 0, kCount - 1}; }
  References::Counter& mine() { return references().stripe_of(thread_ordinal()); }
  void end() {
    keyval.write(0);
    ++ended;
    expect(ended == 1, "a keyval ends once");
    if (begin_next != nullptr) begin_next(*this);
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
  bool take() {
    if (!acquire(3)) return false;
    has_taken();
    return true;
  }
  void has_taken() {
    expect(keyval.read() == 1, "a holder of a reference finds the keyval");
    ++held;
  }
  void take_exact() {
    expect(references().acquire_exact(key(3)), "alive");
    ++held;
  }
  void drop() {
    keyval.read();
    --held;
    if (References::drop_open(mine())) return;
    open(3, thread_ordinal());
    if (references().drop_exact()) end();
  }
  void close() {
    if (!close_unused()) close_slowly();
  }
  bool close_unused() {
    closed = true;
    if (!References::end_unused(exact, key(3))) return false;
    end();
    return true;
  }
  // Called by one thread only, the one that has freed the keyval first.
  void close_slowly() {
    if (references().close(key(3)) == References::Closed::kEnded) end();
  }
  // After the threads.
  void finish() {
    if (begin_next == nullptr)
      expect(references().count() == static_cast<unsigned>(held), "as many as are held");
    for (References::Counter& stripe : stripes) {
      if (!closed) break;
      expect(begin_next != nullptr || !is_open(stripe), "closed, or not opened");
      stripe::Name name;
      expect(!References::acquire_open(stripe, key(3), &name), "none is taken there");
    }
    while (held > 0) {
      expect(ended == 0, "what is held keeps it alive");
      drop();
    }
    expect(ended == closed, "closed and unused: ended");
    expect(!closed || !acquire(3), "none can be taken");
    expect(begin_next == nullptr || acquire(4), "the next one is alive");
  }
};
using Counted = CountedIn<>;

// ---- What threads do ----

constexpr auto take = [](auto& c) { expect(c.take(), "alive"); };
constexpr auto take_exact = [](auto& c) { c.take_exact(); };
constexpr auto drop = [](auto& c) { c.drop(); };
constexpr auto close = [](auto& c) { c.close(); };
constexpr auto use = [](auto& c) {
  if (c.take()) c.drop();
};
constexpr auto use_at_once = [](auto& c) {  // as dup and set do
  const uint64_t word = c.mine().load(kRelaxed);
  const bool named = stripe::names(stripe::name_in(word), key(3));
  if (!named || !References::acquire_open(c.mine(), word)) return;
  c.has_taken();
  c.drop();
};
void reset(Counted& c) { References::reset(c.exact, key(4)); }
constexpr auto next = [](Counted& c) { c.begin_next = reset; };
// Deletes the last value.
constexpr auto detach = [](auto& c) {
  c.attached.store(0, kRelaxed);
  c.drop();
};
constexpr auto ask = [](auto& c) {
  if (c.take()) {
    c.drop();
  } else {
    expect(c.attached.load(kRelaxed) == 0, "gone: nothing is attached any more");
  }
};

template <unsigned kCount = kStripes, typename Prepare, typename... Threads>
void race(Options bound, Stripes first, Prepare prepare, Threads... threads) {
  run_model(bound, [=] {
    CountedIn<kCount> c(first);
    prepare(c);
    spawn_each(c, threads...);
    join();
    c.finish();
  });
}
// Up to kOpening if stripes are opened as well; completely, or up to `open`, if all are open.
constexpr Options kOpening = {2, 2};
template <typename... Threads>
void race_both(const Options& open, Threads... threads) {
  race(kOpening, Stripes::kNoneOpen, threads...);
  race(open, Stripes::kAllOpen, threads...);
}

TEST(References, CloseAgainstTakeAndDrop) { race_both({2}, nothing, use, use, close); }
// Taken on one stripe and dropped on another: single stripes go below zero.
TEST(References, CloseAgainstDropElsewhere) {
  race_both({}, in_turn(take, take), drop, drop, close);
}
TEST(References, WhatIsHeldKeepsItAlive) { race_both({}, take, in_turn(take, drop), close); }
TEST(References, TakenAtOnceOrNot) { race_both({}, nothing, use_at_once, close); }
// A count while others take and drop is never more than there can be.
TEST(References, Count) {
  race_both({2}, nothing, use, close,
            [](auto& c) { expect(c.references().count() <= 1, "at most one is taken"); });
}

// A thread that learns that a keyval is gone sees what was done before, such as the deletion of its
// last value, whether that was before the keyval was freed, after, or before the next generation.
TEST(References, GoneIsAfterTheLastValue) {
  const auto taken = in_turn(take, next);
  race_both({}, take, in_turn(detach, close), ask);
  race_both({}, take, in_turn(close, detach), ask);
  race_both({}, taken, in_turn(detach, close), ask);
  race_both({}, taken, in_turn(close, detach), ask);
}
// The same if one thread deletes the last value, one frees the keyval, and a third learns of it: on
// a stripe that was closed before the last value's or after it.
TEST(References, GoneIsAfterADropElsewhere) {
  race_both({}, take, detach, ask, close);
  race_both({}, take, ask, detach, close);
}

// Two threads open one stripe, or two stripes of one bit, while the keyval is freed.
TEST(References, OpenedAgainstClose) {
  static_assert(References::kBits == 2, "stripes 1 and 3 have the same bit");
  const auto open_and_drop = [](unsigned stripe) {
    return [stripe](auto& c) {
      c.open(3, stripe);
      --c.held;
      if (!References::drop_open(c.stripes[stripe])) c.references().drop_exact();
      c.references().count();
    };
  };
  for (const unsigned other : {1u, 3u}) {
    for (const Stripes first : {Stripes::kNoneOpen, Stripes::kNoneAgain}) {
      race<4>({2, 2}, first, in_turn(take_exact, take_exact, take_exact), open_and_drop(1),
              open_and_drop(other), close);
    }
  }
}

TEST(References, AStripeThatWasShutIsOpenedInTheNextGeneration) {
  race<1>({}, Stripes::kNoneAgain, take_exact, [](auto& c) {
    c.open(3, 0);
    expect(is_open(c.stripes[0]), "opened");
    expect(c.take(), "taken there");
  });
}
// A stripe that was last opened 256 generations ago: the exact count does as well.
TEST(References, ShutInAGenerationOfTheSameNumber) {
  const auto shut = [](auto& c) {
    c.stripes[0].store(stripe::bits(stripe::shut(key(3))), kRelaxed);
  };
  race<1>({2, 2}, Stripes::kNoneOpen, shut, use, use, close);
}
// Threads of one stripe: while one opens it, the others go on.
TEST(References, OneStripeForAll) {
  for (const Stripes first : {Stripes::kNoneOpen, Stripes::kNoneAgain})
    race<1>({2, 1}, first, take_exact, use, use, in_turn(drop, close));
}

// The next generation begins while a thread still tries to take one of the last.
TEST(References, StaleTakeAgainstNextGeneration) {
  const auto create_next = [](Counted& c) {
    c.begin_next = [](Counted& ended) {
      ended.next.write(4);
      reset(ended);
      for (const unsigned ordinal : {0u, 1u}) {
        if (ended.first == Stripes::kAllOpen) ended.open(4, ordinal);
      }
      ended.number.store(4, kRelaxed);  // the references alone order what the creator wrote
    };
  };
  race_both({2}, create_next, close, use, [](Counted& c) {
    if (c.number.load(kRelaxed) == 4 && c.acquire(4))
      expect(c.next.read() == 4, "the new one is there");
  });
}

// A free is overtaken by another, which finds the keyval unused, and by the next generation.
TEST(References, ClosedByAnotherMeanwhile) {
  const auto close_slowly = [](Counted& c) { c.close_slowly(); };
  const auto close_unused = [](Counted& c) { c.close_unused(); };
  race({}, Stripes::kNoneOpen, nothing, close_slowly, close_unused);
  race({}, Stripes::kNoneOpen, next, close_slowly, close_unused);
}

// A thread that isn't the keyval's creator opens the stripe for a generation.
TEST(References, WhatTheCreatorWroteIsSeenThroughAStripe) {
  const auto uses = [](Counted& c) {
    stripe::Name name;
    const bool taken = References::acquire_open(c.stripes[1], key(4), &name);
    reaches("taken", taken);
    if (taken) expect(c.next.read() == 4, "it is there");
  };
  const auto opens = [](Counted& c) {
    if (c.references().acquire_exact(key(4))) c.open(4, 1);
  };
  const auto creates = [](Counted& c) {
    c.next.write(4);
    reset(c);
  };
  const auto close_all = in_turn(close, next);
  race({}, Stripes::kNoneOpen, close_all, creates, opens, uses);
}

}  // namespace
}  // namespace attrcache::model
