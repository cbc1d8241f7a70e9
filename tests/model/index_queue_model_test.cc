// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The queue of free indices: no index is lost, handed out twice, or overtaken by another one, and
// a thread that pops an index sees what was done with it before it was pushed.

#include "keyval/index_queue.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

constexpr uint32_t kIndices = 5;
constexpr uint32_t kNothing = IndexQueue::kNone - 1;  // node numbers are one more

struct Call {
  bool push;
  uint32_t index;
};
struct Order {
  uint32_t queue[kIndices + 1] = {};
  uint32_t length = 0;
  friend bool operator==(const Order&, const Order&) = default;
};

// One index always stays behind; and pop may find none, since the length is a hint.
bool perform(Order& order, const Call& call) {
  if (call.push) {
    order.queue[order.length++] = call.index;
    return true;
  }
  if (call.index == kNothing) return true;
  if (order.length < 2 || order.queue[0] != call.index) return false;
  for (uint32_t i = 1; i < order.length; ++i) order.queue[i - 1] = order.queue[i];
  order.queue[--order.length] = 0;
  return true;
}

struct Queue {
  IndexQueue queue;
  Atomic<uint64_t> links[kIndices];
  Plain<int> owner[kIndices];
  bool free[kIndices] = {};
  TimedHistory<Call> history;

  auto link() {
    return [this](uint32_t node) -> Atomic<uint64_t>& {
      expect(node > 0 && node <= kIndices, "a node of the queue");
      return links[node - 1];
    };
  }
  void push(uint32_t index) {
    owner[index].write(1);
    const Moment begin = now();
    expect(!free[index], "an index is pushed once");
    free[index] = true;
    queue.push(index + 1, link()(index + 1), link());
    history.add({true, index}, begin);
  }
  uint32_t pop(uint32_t spare = 0) {
    const Moment begin = now();
    const uint32_t index = queue.pop(spare, link()) - 1;
    history.add({false, index}, begin);
    if (index == kNothing) return index;
    expect(free[index], "an index is popped once");
    free[index] = false;
    owner[index].write(2);
    return index;
  }
  // What was popped is pushed again.
  void turn() {
    const uint32_t index = pop();
    if (index != kNothing) push(index);
  }
  void finish() {
    Linearizer<Order, Call> linearizer(history, &perform);
    expect(linearizer.exists(Order{}), "a queue");
    uint32_t left = 0;
    for (const bool f : free) left += f;
    for (; left > 1; --left) {
      expect(pop(left - 1) == kNothing, "no more than were pushed");
      expect(pop(left - 2) != kNothing, "what was pushed comes out");
    }
    expect(pop() == kNothing, "one stays behind");
  }
};

// The first indices were pushed.
constexpr auto pushed(uint32_t count) {
  return [count](Queue& q) {
    for (uint32_t i = 0; i < count; ++i) q.push(i);
  };
}
template <uint32_t kIndex>
constexpr auto push = [](Queue& q) { q.push(kIndex); };
constexpr auto pop = [](Queue& q) { q.pop(); };
constexpr auto turn = [](Queue& q) { q.turn(); };
constexpr auto pop_twice = in_turn(pop, pop);

TEST(IndexQueue, FirstPushes) { run_race<Queue>({}, pushed(0), push<0>, push<1>); }
TEST(IndexQueue, OnePushAgainstPop) { run_race<Queue>({}, pushed(0), push<0>, pop); }
TEST(IndexQueue, PushAgainstPop) { run_race<Queue>({}, pushed(2), push<2>, pop); }
TEST(IndexQueue, TwoPops) { run_race<Queue>({}, pushed(3), pop, pop); }
TEST(IndexQueue, FirstPushAgainstPop) {
  run_race<Queue>({2}, pushed(0), in_turn(push<0>, push<1>), pop_twice, push<2>);
}

// Indices are pushed again while others still look at them; the counts in the links are for that.
TEST(IndexQueue, PopsAndPushesOfTheSame) { run_race<Queue>({2, 2}, pushed(3), turn, turn, pop); }
TEST(IndexQueue, RoundAndRoundAgainstPop) {
  run_race<Queue>({3, 2}, pushed(2), in_turn(turn, turn, turn), pop);
}

// An index on its second life is pushed; another push moves tail to it, and a third goes on from
// there. It must not take the link of the first life for one of the second.
TEST(IndexQueue, HelpedTailAgainstPush) {
  run_race<Queue>({2, 2}, in_turn(pushed(3), pop), push<0>, push<3>, push<4>);
}

// A thread pops an index and pushes it again, while a second push has to move tail for it, and a
// third relies on that tail.
TEST(IndexQueue, HelpedTailAgainstPops) {
  run_race<Queue>({2, 2}, pushed(2), turn, push<3>, pop_twice);
}

}  // namespace
}  // namespace attrcache::model
