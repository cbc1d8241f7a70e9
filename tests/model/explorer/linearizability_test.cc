// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/explorer/linearizability.h"

#include <gtest/gtest.h>

namespace attrcache::model {
namespace {

// A register.
struct Op {
  enum Kind { kWrite, kRead } kind;
  int value;
};
struct State {
  int value = 0;
  friend bool operator==(const State&, const State&) = default;
};

bool apply(State& s, const Op& op) {
  if (op.kind == Op::kRead) return s.value == op.value;
  s.value = op.value;
  return true;
}

bool linearizable(const History<Op>& history) {
  return Linearizer<State, Op>(history, &apply).exists(State{});
}

History<Op> history(std::initializer_list<std::pair<Op, uint32_t>> entries) {
  History<Op> h;
  for (const auto& [op, after] : entries) h.add(op, after);
  return h;
}

constexpr uint32_t none = 0;
constexpr uint32_t after(unsigned i) { return 1u << i; }

TEST(Linearizability, OverlappingReadsMaySeeEither) {
  EXPECT_TRUE(linearizable(history({{{Op::kWrite, 1}, none}, {{Op::kRead, 0}, none}})));
  EXPECT_TRUE(linearizable(history({{{Op::kWrite, 1}, none}, {{Op::kRead, 1}, none}})));
}

TEST(Linearizability, RejectsAStaleRead) {
  EXPECT_FALSE(linearizable(history({{{Op::kWrite, 1}, none}, {{Op::kRead, 0}, after(0)}})));
}

TEST(Linearizability, RejectsAValueNobodyWrote) {
  EXPECT_FALSE(linearizable(history({{{Op::kWrite, 1}, none}, {{Op::kRead, 2}, none}})));
}

TEST(Linearizability, RejectsReadsThatGoBack) {
  EXPECT_FALSE(linearizable(
      history({{{Op::kWrite, 1}, none}, {{Op::kRead, 1}, none}, {{Op::kRead, 0}, after(1)}})));
  // By two readers, one after the other.
  EXPECT_TRUE(linearizable(
      history({{{Op::kWrite, 1}, none}, {{Op::kRead, 0}, none}, {{Op::kRead, 1}, after(1)}})));
}

TEST(Linearizability, RejectsReadersThatDisagree) {
  EXPECT_FALSE(linearizable(history({{{Op::kWrite, 1}, none},
                                     {{Op::kWrite, 2}, none},
                                     {{Op::kRead, 1}, none},
                                     {{Op::kRead, 2}, after(2)},
                                     {{Op::kRead, 2}, none},
                                     {{Op::kRead, 1}, after(4)}})));
}

TEST(Linearizability, LooksAtTheFinalState) {
  const auto h = history({{{Op::kWrite, 1}, none}, {{Op::kWrite, 2}, none}});
  Linearizer<State, Op> l(h, &apply);
  EXPECT_TRUE(l.exists(State{}, [](const State& s) { return s.value == 1; }));
  EXPECT_TRUE(l.exists(State{}, [](const State& s) { return s.value == 2; }));
  EXPECT_FALSE(l.exists(State{}, [](const State& s) { return s.value == 0; }));
}

// Twelve overlapping operations that no order explains: the search must end soon all the same.
TEST(Linearizability, RejectsTwelveOverlapping) {
  History<Op> h;
  for (int i = 0; i < 6; ++i) h.add({Op::kWrite, i % 2 + 1}, none);
  for (int i = 0; i < 5; ++i) h.add({Op::kRead, i % 2 + 1}, none);
  h.add({Op::kRead, 3}, none);
  EXPECT_FALSE(linearizable(h));
}

}  // namespace
}  // namespace attrcache::model
