// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/index_queue.h"

#include <gtest/gtest.h>

#include <deque>

namespace attrcache {
namespace {

class IndexQueueTest : public ::testing::Test {
 protected:
  static constexpr int kNodes = 64;
  auto link() {
    return [this](uint32_t node) -> Atomic<uint64_t>& { return links[node - 1]; };
  }
  // A node is never 0, which means none.
  void push(uint32_t index) { queue.push(index + 1, link()); }
  uint32_t pop(uint32_t spare = 0) { return queue.pop(spare, link()) - 1; }
  static constexpr uint32_t kNothing = IndexQueue::kNone - 1;

  Atomic<uint64_t> links[kNodes] = {};
  IndexQueue queue;
};

TEST_F(IndexQueueTest, FirstInFirstOutWithOneLeftBehind) {
  EXPECT_EQ(pop(), kNothing);
  push(5);
  EXPECT_EQ(pop(), kNothing) << "the dummy";
  push(6);
  push(0);
  EXPECT_EQ(pop(), 5u);
  EXPECT_EQ(pop(), 6u);
  EXPECT_EQ(pop(), kNothing);
  push(5);
  EXPECT_EQ(pop(), 0u);
}

TEST_F(IndexQueueTest, SpareOnesStayBehind) {
  for (uint32_t i = 0; i < 10; ++i) push(i);
  EXPECT_EQ(pop(9), kNothing);
  EXPECT_EQ(pop(8), 0u);
  EXPECT_EQ(pop(8), kNothing);
  EXPECT_EQ(pop(0), 1u);
}

TEST_F(IndexQueueTest, BehavesAsADequeOverManyLaps) {
  std::deque<uint32_t> model;
  for (uint32_t i = 0; i < 20; ++i) {
    push(i);
    model.push_back(i);
  }
  for (int lap = 0; lap < 10000; ++lap) {
    ASSERT_EQ(pop(), model.front());
    push(model.front());
    model.push_back(model.front());
    model.pop_front();
  }
}

}  // namespace
}  // namespace attrcache
