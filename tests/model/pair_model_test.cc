// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The Pairs that take several steps: that of two words, for processors that exchange no more than 8
// bytes in one step, and for soaks; and that whose load reads the halves one by one. Such a Pair
// must behave as if 16 bytes were read and exchanged in one step (pair.h), and a reader must see
// what the writer did before. The Pair of one step needs no test of its own, because all other
// models use it.

#include "platform/pair_two_words.h"
#include "tests/model/explorer/explore.h"
#include "tests/model/explorer/linearizability.h"
#include "tests/model/explorer/plain.h"
#include "tests/model/explorer/two_step_pair.h"
#include "tests/model/run_model.h"

namespace attrcache {

constexpr bool operator==(const SlotContent& a, const SlotContent& b) {
  return a.value == b.value && a.meta == b.meta;
}

namespace model {
namespace {

using Content = SlotContent;

// What get learns by peek(): whether something is attached, its value, and whether that is a
// pointer. The number in the meta is left out: peek() need not give it.
Content seen_by_get(Content content) {
  if ((content.meta & pair_bits::kVisible) == 0) return {0, 0};
  return {content.value, content.meta & (pair_bits::kVisible | pair_bits::kTag)};
}

struct Step {
  enum Kind { kLoad, kGet, kOfMeta, kSwap } kind;
  Content seen;
  bool done = false;  // the content became `desired`; for kOfMeta, the meta did
  Content desired = {};
};

// What a 16-byte word would do.
bool perform(Content& content, const Step& step) {
  Content answer = content;
  if (step.kind == Step::kGet) answer = seen_by_get(content);
  if (step.kind == Step::kOfMeta) answer.value = 0;
  if (answer != step.seen) return false;
  if (!step.done) return true;
  content = {step.kind == Step::kOfMeta ? content.value : step.desired.value, step.desired.meta};
  return true;
}

// A Pair that records what was done to it. Values are the numbers of cells: a thread writes the
// cell before it stores the value, and a thread that sees the value may read it.
template <typename P>
struct Observed {
  P pair;
  Plain<int> cells[5];
  TimedHistory<Step> history;
  Content initial;

  explicit Observed(Content content) : initial(content) {
    pair.store_unshared(content);
    write_cell(content.value);
  }
  void write_cell(uint64_t value) { cells[value].write(static_cast<int>(value)); }
  void read_cell(uint64_t value) {
    expect(cells[value].read() == static_cast<int>(value), "the cell of a value is written");
  }

  Content load() {
    return look(Step::kLoad, [this] { return pair.load(); });
  }
  Content get() {
    return look(Step::kGet, [this] { return seen_by_get(pair.peek()); });
  }
  uint64_t load_meta() {
    return look(Step::kOfMeta, [this] { return Content{0, pair.load_meta()}; }).meta;
  }
  // If false, `expected` has become what was there instead.
  bool swap(Content& expected, Content desired) {
    const Moment begin = now();
    Content seen = expected;
    const bool done = pair.compare_exchange(seen, desired);
    expect(done || seen != expected, "a swap fails for a reason");
    expected = seen;
    history.add({Step::kSwap, seen, done, desired}, begin);
    return done;
  }
  bool swap_meta(uint64_t& expected, uint64_t desired) {
    const Moment begin = now();
    uint64_t seen = expected;
    const bool done = pair.compare_exchange_meta(seen, desired);
    expect(done || seen != expected, "a swap of meta fails for a reason");
    expected = seen;
    history.add({Step::kOfMeta, {0, seen}, done, {0, desired}}, begin);
    return done;
  }
  // For threads that give up if it fails.
  bool swaps(Content expected, Content desired) { return swap(expected, desired); }
  bool swaps_meta(uint64_t expected, uint64_t desired) { return swap_meta(expected, desired); }

  template <typename Look>
  Content look(typename Step::Kind kind, Look look) {
    const Moment begin = now();
    const Content seen = look();
    history.add({kind, seen}, begin);
    return seen;
  }
  void finish() {
    join();
    const Content last = pair.load();
    Linearizer<Content, Step> linearizer(history, &perform);
    expect(linearizer.exists(initial, [last](const Content& c) { return c == last; }),
           "the steps are linearizable, as those of one word are");
  }
};

template <typename P>
class ManySteps : public ::testing::Test {
 public:
  // Explores threads that run `bodies` on a Pair with this content.
  template <typename... Bodies>
  static void run(Options bound, Content content, Bodies... bodies) {
    // A swap of two words makes three more accesses, each a choice; so that is bounded.
    if (std::is_same_v<P, TwoWordPair>) bound = {2, 2};
    run_model(bound, [=] { of_threads(content, bodies...); });
  }
  template <typename... Bodies>
  static void of_threads(Content content, Bodies... bodies) {
    Observed<P> o(content);
    spawn_each(o, bodies...);
    o.finish();
  }
};
struct Names {
  template <typename P>
  static std::string GetName(int) {
    return std::is_same_v<P, TwoWordPair> ? "TwoWords" : "TwoStepLoad";
  }
};
using Pairs = ::testing::Types<TwoWordPair, TwoStepPair>;
TYPED_TEST_SUITE(ManySteps, Pairs, Names);

// ---- What threads do ----

constexpr auto load = [](auto& o) { o.load(); };
constexpr auto get = [](auto& o) { o.get(); };
constexpr auto swap(Content expected, Content desired) {
  return [=](auto& o) { o.swaps(expected, desired); };
}
// Retries with what was there.
constexpr auto swap_or(Content expected, Content desired, Content otherwise) {
  return [=](auto& o) {
    Content seen = expected;
    if (!o.swap(seen, desired)) o.swap(seen, otherwise);
  };
}
constexpr auto swap_meta(uint64_t expected, uint64_t desired) {
  return [=](auto& o) { o.swaps_meta(expected, desired); };
}
constexpr auto write_cell = [](auto& o) { o.write_cell(2); };

// ---- As one word ----

TYPED_TEST(ManySteps, LoadsAgainstSwaps) {
  this->run({}, {1, 10}, in_turn(swap({1, 10}, {2, 20}), swap({2, 20}, {3, 30})),
            in_turn(load, load));
}
TYPED_TEST(ManySteps, SwapsOfTheSame) {
  this->run({3}, {1, 10}, swap_or({1, 10}, {2, 20}, {4, 40}), swap_or({1, 10}, {3, 21}, {4, 41}),
            load);
}
// Meta alone is swapped, by a claim.
TYPED_TEST(ManySteps, SwapAgainstSwapOfMeta) {
  const auto claims = [](auto& o) {
    uint64_t expected = 10;
    if (!o.swap_meta(expected, 11)) o.swap_meta(expected, 12);
  };
  this->run({3}, {1, 10}, swap_or({1, 10}, {2, 20}, {3, 30}), claims, load);
}
// A swap that finds the expected meta but another value: it was replaced under the same meta.
TYPED_TEST(ManySteps, SwapsUnderTheSameMeta) {
  this->run({3}, {1, 10}, swap_or({1, 10}, {2, 10}, {4, 40}), swap_or({1, 10}, {3, 30}, {4, 40}),
            swap_meta(10, 11));
}
// A thread that loads between two such replacements may see either value, but goes back to none.
TYPED_TEST(ManySteps, LoadsAgainstSwapsUnderTheSameMeta) {
  this->run({}, {1, 10}, in_turn(swap({1, 10}, {2, 10}), swap({2, 10}, {3, 10})),
            in_turn(load, load));
}
// A meta that changes and changes back, as by a claim that is given up: the value stays the same.
TYPED_TEST(ManySteps, LoadAgainstAMetaThatReturns) {
  const auto claim_and_restore = [](auto& o) {
    if (o.swaps_meta(10, 11)) o.swaps_meta(11, 10);
  };
  this->run({3}, {1, 10}, claim_and_restore, swap({1, 10}, {2, 10}), load);
}
// What two_step_load.h asks of its users is needed: if a meta returns with another value than it
// had, a load goes wrong. (Nothing in the library does that.)
TYPED_TEST(ManySteps, AMetaThatReturnsWithAnotherValueIsSeenWithAThird) {
  const Result result = explore({.quiet = true}, [this] {
    this->of_threads({1, 10}, in_turn(swap({1, 10}, {2, 20}), swap({2, 20}, {3, 10})), load);
  });
  EXPECT_EQ(result.failure, "the steps are linearizable, as those of one word are");
}

// ---- As get sees it ----

constexpr uint64_t kAttached = pair_bits::kVisible;                           // a C pointer
constexpr uint64_t kAttachedInteger = pair_bits::kVisible | pair_bits::kTag;  // an Aint
constexpr Content kOld = {1, kAttached | 10};
constexpr Content kOldInteger = {1, kAttachedInteger | 10};
constexpr Content kSecond = {2, kAttached | 20};
const auto get_twice = in_turn(get, get);

// Sets that replace pointers with pointers.
TYPED_TEST(ManySteps, GetsBesideSetsThatReplace) {
  this->run({3}, kOld, in_turn(swap(kOld, kSecond), swap(kSecond, {3, kAttached | 30})), get_twice);
}
// Two gets, one after the other: the second doesn't find an older value than the first.
TYPED_TEST(ManySteps, GetsOfTwoThreadsBesideASet) {
  this->run({2}, kOld, swap(kOld, kSecond), get_twice, get_twice);
}
// A value that a delete has detached is never seen again, nor one that isn't attached yet.
TYPED_TEST(ManySteps, GetsBesideSetAndDelete) {
  const auto set_and_delete = [](auto& o) {
    if (o.swaps({1, 0}, kSecond)) o.swaps_meta(kAttached | 20, 0);
  };
  this->run({3}, {1, 0}, set_and_delete, get_twice);
}
// The kind of value changes: no pointer is taken for an integer, nor an integer for a pointer.
TYPED_TEST(ManySteps, GetsBesideAnIntegerThatReplacesAPointer) {
  this->run({3}, kOld, swap(kOld, {2, kAttachedInteger | 20}), in_turn(get_twice, get));
}
TYPED_TEST(ManySteps, GetsBesideAPointerThatReplacesAnInteger) {
  this->run({3}, kOldInteger, swap(kOldInteger, kSecond), in_turn(get_twice, get));
}
// Two sets, of which one gives up because the other was first.
TYPED_TEST(ManySteps, GetsBesideSetsThatRace) {
  this->run({2}, kOld, swap(kOld, {2, kAttached | 10}), swap(kOld, {3, kAttached | 10}), get_twice);
}

// ---- What is published ----

// A thread that finds a new value sees what it points to, even if the set hasn't ended.
TYPED_TEST(ManySteps, AGetSeesWhatTheValueIsOf) {
  this->run({}, kOld, in_turn(write_cell, swap(kOld, kSecond)),
            [](auto& o) { o.read_cell(o.get().value); });
}
const auto write_and_swap = in_turn(write_cell, swap({1, 10}, {2, 20}));
TYPED_TEST(ManySteps, LoadSeesWhatTheValueIsOf) {
  this->run({}, {1, 10}, write_and_swap, [](auto& o) {
    o.read_cell(o.load().value);
    if (o.load_meta() == 20) o.read_cell(2);  // which the load may have missed
  });
}
TYPED_TEST(ManySteps, AFailingSwapSeesWhatTheValueIsOf) {
  this->run({}, {1, 10}, write_and_swap, [](auto& o) {
    Content expected = {1, 10};
    o.write_cell(3);
    if (!o.swap(expected, {3, 30})) o.read_cell(expected.value);
  });
}
TYPED_TEST(ManySteps, AFailingSwapOfMetaSeesWhatTheValueIsOf) {
  this->run({}, {1, 10}, write_and_swap, [](auto& o) {
    uint64_t expected = 10;
    if (!o.swap_meta(expected, 11) && expected == 20) o.read_cell(2);
  });
}
TYPED_TEST(ManySteps, ASwapOfMetaHandsOver) {
  this->run({}, {1, 10}, in_turn(write_cell, swap_meta(10, 11)), [](auto& o) {
    if (o.load().meta == 11) o.read_cell(2);
  });
}

// A thread that takes the value away sees what those did that had claimed it, though it looked
// before.
constexpr auto claim_read_and_restore = [](auto& o) {
  if (!o.swaps_meta(10, 11)) return;
  o.read_cell(1);
  o.swaps_meta(11, 10);
};
TYPED_TEST(ManySteps, ASwapSeesTheClaimsThatEnded) {
  this->run({}, {1, 10}, claim_read_and_restore, [](auto& o) {
    o.load();
    if (o.swaps({1, 10}, {3, 30})) o.cells[1].write(7);
  });
}
TYPED_TEST(ManySteps, ASwapOfMetaSeesTheClaimsThatEnded) {
  this->run({}, {1, 10}, claim_read_and_restore, [](auto& o) {
    if (o.swaps_meta(10, 30)) o.cells[1].write(7);
  });
}

// A value replaced under the same meta is published, too.
TYPED_TEST(ManySteps, ASwapUnderTheSameMetaSeesWhatItReplaces) {
  this->run({}, {1, 10}, in_turn(write_cell, swap({1, 10}, {2, 10})), [](auto& o) {
    Content expected = {1, 10};
    o.write_cell(3);
    bool done = o.swap(expected, {3, 10});
    if (!done) {
      o.read_cell(expected.value);
      done = o.swap(expected, {3, 10});
    }
    if (done) o.cells[expected.value].write(7);
  });
}

}  // namespace
}  // namespace model
}  // namespace attrcache
