// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/explorer/linearizability.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace attrcache::model {
namespace {

// On a register, which is 0 at first.
struct Op {
  bool writes;
  int value;
};
constexpr Op write(int value) { return {true, value}; }
constexpr Op read(int value) { return {false, value}; }
constexpr uint32_t after(unsigned i) { return 1u << i; }

bool apply(int& now, const Op& op) {
  if (!op.writes) return now == op.value;
  now = op.value;
  return true;
}

struct Entry {
  Op op;
  uint32_t after = 0;
};
bool linearizable(std::initializer_list<Entry> entries) {
  History<Op> history;
  for (const auto& [op, after] : entries) history.add(op, after);
  return Linearizer<int, Op>(history, &apply).exists(0);
}

TEST(Linearizability, OfARegister) {
  EXPECT_TRUE(linearizable({{write(1)}, {read(0)}})) << "they overlap";
  EXPECT_TRUE(linearizable({{write(1)}, {read(1)}})) << "they overlap";
  EXPECT_FALSE(linearizable({{write(1)}, {read(0), after(0)}})) << "a stale read";
  EXPECT_FALSE(linearizable({{write(1)}, {read(2)}})) << "nobody wrote that";
  EXPECT_FALSE(linearizable({{write(1)}, {read(1)}, {read(0), after(1)}})) << "going back";
  EXPECT_TRUE(linearizable({{write(1)}, {read(0)}, {read(1), after(1)}}));
  EXPECT_FALSE(linearizable(
      {{write(1)}, {write(2)}, {read(1)}, {read(2), after(2)}, {read(2)}, {read(1), after(4)}}))
      << "two readers that disagree";
}

TEST(Linearizability, LooksAtTheFinalState) {
  History<Op> h;
  for (const int value : {1, 2}) h.add(write(value), 0);
  for (const int last : {0, 1, 2}) {
    Linearizer<int, Op> l(h, &apply);
    EXPECT_EQ(l.exists(0, [last](int now) { return now == last; }), last != 0) << last;
  }
}

// Twelve overlapping operations that no order explains: the search must end soon all the same.
TEST(Linearizability, RejectsTwelveOverlapping) {
  History<Op> h;
  for (int i = 0; i < 6; ++i) h.add(write(i % 2 + 1), 0);
  for (int i = 0; i < 5; ++i) h.add(read(i % 2 + 1), 0);
  h.add(read(3), 0);
  Linearizer<int, Op> l(h, &apply);
  EXPECT_FALSE(l.exists(0));
}

}  // namespace
}  // namespace attrcache::model
