// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The Pairs that take several steps: that of two words, for processors that exchange no more than 8
// bytes in one step, ThreadSanitizer builds and soaks; and that whose load reads the halves one by
// one. Whatever threads do to such a Pair, it must behave as if 16 bytes were read and exchanged in
// one step (pair.h), and whoever reads must see what the writer did before. The Pair of one step
// needs no test of its own, because all other models use it.

#include "platform/pair_two_words.h"
#include "tests/model/explorer/linearizability.h"
#include "tests/model/explorer/moment.h"
#include "tests/model/explorer/plain.h"
#include "tests/model/explorer/two_step_pair.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

struct Content {
  uint64_t value = 0;
  uint64_t meta = 0;
  friend bool operator==(const Content&, const Content&) = default;
};

// What a reader learns by peek(). Not of the meta: its number, which peek() need not give.
enum Found : uint64_t { kNothing, kPointer, kInteger };
Found found(uint64_t meta) {
  if ((meta & pair_bits::kVisible) == 0) return kNothing;
  return (meta & pair_bits::kTag) == 0 ? kPointer : kInteger;
}
// In C: the pointer; of an integer its address, whatever the value is. In Fortran: the value.
Content seen_in_c(Content content) {
  const Found what = found(content.meta);
  return {what == kPointer ? content.value : 0, what};
}
Content seen_in_fortran(Content content) {
  const bool any = found(content.meta) != kNothing;
  return {any ? content.value : 0, any};
}

struct Step {
  enum Kind {
    kLoad,
    kGetInC,
    kGetInFortran,
    kLoadMeta,
    kCompareExchange,
    kCompareExchangeMeta,
    kAddMeta
  } kind;
  bool done;        // of a swap
  Content seen;     // or what was expected, if it was done
  Content desired;  // add: the number
};

// What a 16-byte word would answer.
bool perform(Content& content, const Step& step) {
  const bool same_meta = content.meta == step.seen.meta;
  switch (step.kind) {
    case Step::kLoad:
      return content == step.seen;
    case Step::kGetInC:
      return seen_in_c(content) == step.seen;
    case Step::kGetInFortran:
      return seen_in_fortran(content) == step.seen;
    case Step::kLoadMeta:
      return same_meta;
    case Step::kCompareExchange:
      if (content != step.seen) return false;
      if (step.done) content = step.desired;
      return true;
    case Step::kCompareExchangeMeta:
      if (!same_meta) return false;
      if (step.done) content.meta = step.desired.meta;
      return true;
    case Step::kAddMeta:
      if (!same_meta) return false;
      content.meta += step.desired.meta;
      return true;
  }
  return false;
}

// A Pair that remembers what was done to it. Values are the numbers of cells: whoever puts a value
// has written its cell before, whoever sees one may read it.
template <typename P>
struct Observed {
  P pair;
  Plain<int> cells[5];
  History<Step> history;
  Moment ends[kMaxOperations];
  Content initial;

  explicit Observed(Content content) : initial(content) {
    pair.store_unshared({content.value, content.meta});
    write_cell(content.value);
  }
  void write_cell(uint64_t value) { cells[value].write(static_cast<int>(value)); }
  void read_cell(uint64_t value) {
    expect(cells[value].read() == static_cast<int>(value), "the cell of a value is written");
  }

  Content load() {
    const Moment begin = now();
    const SlotContent seen = pair.load();
    record({Step::kLoad, false, {seen.value, seen.meta}, {}}, begin);
    return {seen.value, seen.meta};
  }
  Content get_in_c() {
    const Moment begin = now();
    const SlotContent read = pair.peek();
    const Content seen = seen_in_c({read.value, read.meta});
    record({Step::kGetInC, false, seen, {}}, begin);
    return seen;
  }
  Content get_in_fortran() {
    const Moment begin = now();
    const SlotContent read = pair.peek();
    const Content seen = seen_in_fortran({read.value, read.meta});
    record({Step::kGetInFortran, false, seen, {}}, begin);
    return seen;
  }
  uint64_t load_meta() {
    const Moment begin = now();
    const uint64_t seen = pair.load_meta();
    record({Step::kLoadMeta, false, {0, seen}, {}}, begin);
    return seen;
  }
  // False: `expected` is what was there instead.
  bool compare_exchange(Content& expected, Content desired) {
    const Moment begin = now();
    SlotContent seen = {expected.value, expected.meta};
    const bool done = pair.compare_exchange(seen, {desired.value, desired.meta});
    if (!done) {
      expect(Content{seen.value, seen.meta} != expected, "a swap fails for a reason");
      expected = {seen.value, seen.meta};
    }
    record({Step::kCompareExchange, done, expected, desired}, begin);
    return done;
  }
  bool compare_exchange_meta(uint64_t& expected, uint64_t desired) {
    const Moment begin = now();
    uint64_t seen = expected;
    const bool done = pair.compare_exchange_meta(seen, desired);
    if (!done) {
      expect(seen != expected, "a swap of meta fails for a reason");
      expected = seen;
    }
    record({Step::kCompareExchangeMeta, done, {0, expected}, {0, desired}}, begin);
    return done;
  }
  uint64_t add_meta(uint64_t number) {
    const Moment begin = now();
    const uint64_t seen = pair.add_meta(number);
    record({Step::kAddMeta, false, {0, seen}, {0, number}}, begin);
    return seen;
  }
  bool swaps(Content expected, Content desired) { return compare_exchange(expected, desired); }
  bool swaps_meta(uint64_t expected, uint64_t desired) {
    return compare_exchange_meta(expected, desired);
  }

  void record(const Step& step, const Moment& begin) {
    static constexpr const char* kNames[] = {
        "load:",      "get_in_c:",         "get_in_fortran:",
        "load_meta:", "compare_exchange:", "compare_exchange_meta:",
        "add_meta:"};
    note(kNames[step.kind], static_cast<int>(step.seen.value * 1000 + step.seen.meta));
    uint32_t after = 0;
    for (unsigned i = 0; i < history.count; ++i) {
      if (happens_before(ends[i], begin)) after |= 1u << i;
    }
    ends[history.count] = now();
    history.add(step, after);
  }
  bool has_an_order() {
    const SlotContent last = pair.load();
    Linearizer<Content, Step> linearizer(history, &perform);
    return linearizer.exists(initial, [last](const Content& c) {
      return c == Content{last.value, last.meta};
    });
  }
  void finish() {
    join();
    expect(has_an_order(), "the steps have a serial order, as those of one word have");
  }
};

template <typename P>
class ManySteps : public ::testing::Test {
 public:
  // A swap of two words is three accesses more, each a question: so within a bound there.
  template <typename Threads>
  static void run(Bound bound, Threads threads) {
    if (std::is_same_v<P, TwoWordPair>) bound = {2, 2};
    run_model(bound, [&] {
      Observed<P> o({1, 10});
      threads(o);
      o.finish();
    });
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

// ---- As one word
// ---------------------------------------------------------------------------------

TYPED_TEST(ManySteps, LoadsAgainstSwaps) {
  this->run({}, [](auto& o) {
    spawn([&o] {
      o.swaps({1, 10}, {2, 20});
      o.swaps({2, 20}, {3, 30});
    });
    spawn([&o] {
      o.load();
      o.load();
    });
  });
}

TYPED_TEST(ManySteps, SwapsOfTheSame) {
  this->run({3}, [](auto& o) {
    for (uint64_t t = 0; t < 2; ++t) {
      spawn([&o, t] {
        Content expected = {1, 10};
        if (!o.compare_exchange(expected, {2 + t, 20 + t}))
          o.compare_exchange(expected, {4, 40 + t});
      });
    }
    spawn([&o] { o.load(); });
  });
}

// Meta alone is swapped (a claim, a pin) and added to (the end of a pin).
TYPED_TEST(ManySteps, SwapAgainstSwapOfMeta) {
  this->run({3}, [](auto& o) {
    spawn([&o] {
      Content expected = {1, 10};
      if (!o.compare_exchange(expected, {2, 20})) o.compare_exchange(expected, {3, 30});
    });
    spawn([&o] {
      uint64_t expected = 10;
      if (!o.compare_exchange_meta(expected, 11)) o.compare_exchange_meta(expected, 12);
    });
    spawn([&o] { o.load(); });
  });
}

TYPED_TEST(ManySteps, SwapAgainstAdditionToMeta) {
  this->run({3}, [](auto& o) {
    spawn([&o] {
      o.swaps({1, 10}, {2, 20});
      o.load_meta();
    });
    spawn([&o] { o.add_meta(1); });
    spawn([&o] { o.load(); });
  });
}

TYPED_TEST(ManySteps, AdditionsAgainstSwapOfMeta) {
  this->run({}, [](auto& o) {
    spawn([&o] { o.add_meta(1); });
    spawn([&o] { o.add_meta(2); });
    spawn([&o] { o.swaps_meta(10, 30); });
  });
}

// A swap that finds meta as expected, but not the value: somebody replaced it under the same meta.
TYPED_TEST(ManySteps, SwapsUnderTheSameMeta) {
  this->run({3}, [](auto& o) {
    for (uint64_t t = 0; t < 2; ++t) {
      spawn([&o, t] {
        Content expected = {1, 10};
        if (!o.compare_exchange(expected, {2 + t, 10 + 20 * t}))
          o.compare_exchange(expected, {4, 40});
      });
    }
    spawn([&o] { o.swaps_meta(10, 11); });
  });
}

// One who loads between two such replacements may see either value, but goes back to none.
TYPED_TEST(ManySteps, LoadsAgainstSwapsUnderTheSameMeta) {
  this->run({}, [](auto& o) {
    spawn([&o] {
      o.swaps({1, 10}, {2, 10});
      o.swaps({2, 10}, {3, 10});
    });
    spawn([&o] {
      o.load();
      o.load();
    });
  });
}

// A meta that goes away and returns, as a pin and its end do: the value stays the same meanwhile.
TYPED_TEST(ManySteps, LoadAgainstAMetaThatReturns) {
  this->run({3}, [](auto& o) {
    spawn([&o] {
      if (o.swaps_meta(10, 11)) o.add_meta(uint64_t{0} - 1);
    });
    spawn([&o] { o.swaps({1, 10}, {2, 10}); });
    spawn([&o] { o.load(); });
  });
}

// What two_step_load.h asks of its users is needed: a meta that returns with another value than it
// went with deceives a load. (Nothing in the library does that.)
TYPED_TEST(ManySteps, AMetaThatReturnsWithAnotherValueIsSeenWithAThird) {
  const Result result = explore({.quiet = true}, [] {
    Observed<TypeParam> o({1, 10});
    spawn([&o] {
      o.swaps({1, 10}, {2, 20});
      o.swaps({2, 20}, {3, 10});
    });
    spawn([&o] { o.load(); });
    o.finish();
  });
  EXPECT_EQ(result.failure, "the steps have a serial order, as those of one word have");
}

// ---- As get sees it ----

constexpr uint64_t kAttached = pair_bits::kVisible;                           // a C pointer
constexpr uint64_t kAttachedInteger = pair_bits::kVisible | pair_bits::kTag;  // an Aint

// Sets that replace pointers by pointers.
TYPED_TEST(ManySteps, GetsBesideSetsThatReplace) {
  this->run({3}, [](auto& o) {
    o.pair.store_unshared({1, kAttached | 10});
    o.initial = {1, kAttached | 10};
    spawn([&o] {
      o.swaps({1, kAttached | 10}, {2, kAttached | 20});
      o.swaps({2, kAttached | 20}, {3, kAttached | 30});
    });
    spawn([&o] {
      o.get_in_c();
      o.get_in_c();
    });
  });
}

// Two who get, one after the other: the second doesn't go back behind what the first has seen.
TYPED_TEST(ManySteps, GetsOfTwoThreadsBesideASet) {
  this->run({2}, [](auto& o) {
    o.pair.store_unshared({1, kAttached | 10});
    o.initial = {1, kAttached | 10};
    spawn([&o] { o.swaps({1, kAttached | 10}, {2, kAttached | 20}); });
    for (int t = 0; t < 2; ++t) {
      spawn([&o] {
        o.get_in_c();
        o.get_in_fortran();
      });
    }
  });
}

// A value that is left behind by a delete is never seen again, nor one that is not attached yet.
TYPED_TEST(ManySteps, GetsBesideSetAndDelete) {
  this->run({3}, [](auto& o) {
    o.pair.store_unshared({1, 0});
    o.initial = {1, 0};
    spawn([&o] {
      if (!o.swaps({1, 0}, {2, kAttached | 20})) return;
      o.swaps_meta(kAttached | 20, 0);
    });
    spawn([&o] {
      o.get_in_c();
      o.get_in_c();
    });
  });
}

// The kind of value changes: no pointer is taken for an integer, nor an integer for a pointer.
TYPED_TEST(ManySteps, GetsBesideAnIntegerThatReplacesAPointer) {
  this->run({3}, [](auto& o) {
    o.pair.store_unshared({1, kAttached | 10});
    o.initial = {1, kAttached | 10};
    spawn([&o] { o.swaps({1, kAttached | 10}, {2, kAttachedInteger | 20}); });
    spawn([&o] {
      o.get_in_c();
      o.get_in_fortran();
      o.get_in_c();
    });
  });
}
TYPED_TEST(ManySteps, GetsBesideAPointerThatReplacesAnInteger) {
  this->run({3}, [](auto& o) {
    o.pair.store_unshared({1, kAttachedInteger | 10});
    o.initial = {1, kAttachedInteger | 10};
    spawn([&o] { o.swaps({1, kAttachedInteger | 10}, {2, kAttached | 20}); });
    spawn([&o] {
      o.get_in_c();
      o.get_in_fortran();
      o.get_in_c();
    });
  });
}

// Two set, and one gives up because the other was first.
TYPED_TEST(ManySteps, GetsBesideSetsThatRace) {
  this->run({2}, [](auto& o) {
    o.pair.store_unshared({1, kAttached | 10});
    o.initial = {1, kAttached | 10};
    for (uint64_t t = 0; t < 2; ++t) {
      spawn([&o, t] { o.swaps({1, kAttached | 10}, {2 + t, kAttached | 10}); });
    }
    spawn([&o] {
      o.get_in_c();
      o.get_in_c();
    });
  });
}

// Who finds a new value knows what it points to, also if the set hasn't ended.
TYPED_TEST(ManySteps, AGetSeesWhatTheValueIsOf) {
  this->run({}, [](auto& o) {
    o.pair.store_unshared({1, kAttached | 10});
    o.initial = {1, kAttached | 10};
    spawn([&o] {
      o.write_cell(2);
      o.swaps({1, kAttached | 10}, {2, kAttached | 20});
    });
    spawn([&o] { o.read_cell(o.get_in_c().value); });
  });
}

// ---- What is handed over ----

TYPED_TEST(ManySteps, LoadSeesWhatTheValueIsOf) {
  this->run({}, [](auto& o) {
    spawn([&o] {
      o.write_cell(2);
      o.swaps({1, 10}, {2, 20});
    });
    spawn([&o] {
      o.read_cell(o.load().value);
      if (o.load_meta() == 20) o.read_cell(2);
    });
  });
}

TYPED_TEST(ManySteps, MetaTellsOfTheValue) {
  this->run({}, [](auto& o) {
    spawn([&o] {
      o.write_cell(2);
      o.swaps({1, 10}, {2, 20});
    });
    spawn([&o] {
      if (o.load_meta() == 20) o.read_cell(2);
    });
  });
}

TYPED_TEST(ManySteps, AFailingSwapSeesWhatTheValueIsOf) {
  this->run({}, [](auto& o) {
    spawn([&o] {
      o.write_cell(2);
      o.swaps({1, 10}, {2, 20});
    });
    spawn([&o] {
      Content expected = {1, 10};
      o.write_cell(3);
      if (!o.compare_exchange(expected, {3, 30})) o.read_cell(expected.value);
    });
  });
}

TYPED_TEST(ManySteps, AFailingSwapOfMetaSeesWhatTheValueIsOf) {
  this->run({}, [](auto& o) {
    spawn([&o] {
      o.write_cell(2);
      o.swaps({1, 10}, {2, 20});
    });
    spawn([&o] {
      uint64_t expected = 10;
      if (!o.compare_exchange_meta(expected, 11) && expected == 20) o.read_cell(2);
    });
  });
}

TYPED_TEST(ManySteps, ASwapOfMetaHandsOver) {
  this->run({}, [](auto& o) {
    spawn([&o] {
      o.write_cell(2);
      o.swaps_meta(10, 11);
    });
    spawn([&o] {
      if (o.load().meta == 11) o.read_cell(2);
    });
  });
}

// Whoever takes the value away knows what those did who had pinned it, though he looked before.
TYPED_TEST(ManySteps, ASwapSeesThePinsThatEnded) {
  this->run({}, [](auto& o) {
    spawn([&o] {
      if (!o.swaps_meta(10, 11)) return;
      o.read_cell(1);
      o.add_meta(uint64_t{0} - 1);
    });
    spawn([&o] {
      const Content found = o.load();
      if (o.swaps({1, 10}, {3, 30})) o.cells[1].write(7);
      (void)found;
    });
  });
}

TYPED_TEST(ManySteps, ASwapOfMetaSeesThePinsThatEnded) {
  this->run({}, [](auto& o) {
    spawn([&o] {
      if (!o.swaps_meta(10, 11)) return;
      o.read_cell(1);
      o.add_meta(uint64_t{0} - 1);
    });
    spawn([&o] {
      if (o.swaps_meta(10, 30)) o.cells[1].write(7);
    });
  });
}

// An addition acquires, too: who finds that he was the last knows what the others did.
TYPED_TEST(ManySteps, AnAdditionSeesThoseBefore) {
  this->run({}, [](auto& o) {
    for (uint64_t t = 0; t < 2; ++t) {
      spawn([&o] {
        o.read_cell(1);
        if (o.add_meta(1) == 11) o.cells[1].write(7);
      });
    }
  });
}

// A value under the same meta tells of itself.
TYPED_TEST(ManySteps, ASwapUnderTheSameMetaSeesWhatItReplaces) {
  this->run({}, [](auto& o) {
    spawn([&o] {
      o.write_cell(2);
      o.swaps({1, 10}, {2, 10});
    });
    spawn([&o] {
      Content expected = {1, 10};
      o.write_cell(3);
      if (!o.compare_exchange(expected, {3, 10})) {
        o.read_cell(expected.value);
        if (o.compare_exchange(expected, {3, 10})) o.cells[expected.value].write(7);
      } else {
        o.cells[1].write(7);
      }
    });
  });
}

}  // namespace
}  // namespace attrcache::model
