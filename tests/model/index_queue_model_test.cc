// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The queue of free indices: no index is lost, handed out twice, or overtaken by another one, and
// whoever pops an index sees what was done with it before it was pushed.

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

// One index always stays behind; and pop may say that there is none, for its length is a hint.
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
  History<Call> history;
  Moment ends[kMaxOperations];

  auto link() {
    return [this](uint32_t node) -> Atomic<uint64_t>& {
      expect(node > 0 && node <= kIndices, "a node of the queue");
      return links[node - 1];
    };
  }
  void record(const Call& call, const Moment& begin) {
    uint32_t after = 0;
    for (unsigned i = 0; i < history.count; ++i) {
      if (happens_before(ends[i], begin)) after |= 1u << i;
    }
    ends[history.count] = now();
    history.add(call, after);
    note(call.push ? "push" : "pop", static_cast<int>(call.index));
  }
  void push(uint32_t index) {
    owner[index].write(1);
    const Moment begin = now();
    expect(!free[index], "an index is pushed once");
    free[index] = true;
    queue.push(index + 1, link());
    record({true, index}, begin);
  }
  uint32_t pop(uint32_t spare = 0) {
    const Moment begin = now();
    const uint32_t index = queue.pop(spare, link()) - 1;
    record({false, index}, begin);
    if (index == kNothing) return index;
    expect(free[index], "an index is popped once");
    free[index] = false;
    owner[index].write(2);
    return index;
  }
  void finish() {
    Linearizer<Order, Call> linearizer(history, &perform);
    expect(linearizer.exists(Order{}), "a queue");
    uint32_t left = 0;
    for (const bool f : free) left += f;
    for (; left > 1; --left) {
      expect(pop(left - 1) == kNothing, "not more than was pushed");
      expect(pop(left - 2) != kNothing, "what was pushed comes out");
    }
    expect(pop() == kNothing, "one stays behind");
  }
};

TEST(IndexQueue, FirstPushes) {
  run_model({}, [] {
    Queue q;
    for (uint32_t t = 0; t < 2; ++t) {
      spawn([&q, t] { q.push(t); });
    }
    join();
    q.finish();
  });
}

TEST(IndexQueue, OnePushAgainstPop) {
  run_model({}, [] {
    Queue q;
    spawn([&q] { q.push(0); });
    spawn([&q] { q.pop(); });
    join();
    q.finish();
  });
}

TEST(IndexQueue, FirstPushAgainstPop) {
  run_model({2}, [] {
    Queue q;
    spawn([&q] {
      q.push(0);
      q.push(1);
    });
    spawn([&q] {
      q.pop();
      q.pop();
    });
    spawn([&q] { q.push(2); });
    join();
    q.finish();
  });
}

TEST(IndexQueue, PushAgainstPop) {
  run_model({}, [] {
    Queue q;
    q.push(0);
    q.push(1);
    spawn([&q] { q.push(2); });
    spawn([&q] { q.pop(); });
    join();
    q.finish();
  });
}

TEST(IndexQueue, TwoPops) {
  run_model({}, [] {
    Queue q;
    for (uint32_t i = 0; i < 3; ++i) q.push(i);
    for (int t = 0; t < 2; ++t) spawn([&q] { q.pop(); });
    join();
    q.finish();
  });
}

// Indices that come back while others still look at them: what the counts beside links are for.
TEST(IndexQueue, PopsAndPushesOfTheSame) {
  run_model({2, 2}, [] {
    Queue q;
    for (uint32_t i = 0; i < 3; ++i) q.push(i);
    for (int t = 0; t < 2; ++t) {
      spawn([&q] {
        const uint32_t index = q.pop();
        if (index != kNothing) q.push(index);
      });
    }
    spawn([&q] { q.pop(); });
    join();
    q.finish();
  });
}

TEST(IndexQueue, RoundAndRoundAgainstPop) {
  run_model({3, 2}, [] {
    Queue q;
    for (uint32_t i = 0; i < 2; ++i) q.push(i);
    spawn([&q] {
      for (int round = 0; round < 3; ++round) {
        const uint32_t index = q.pop();
        if (index != kNothing) q.push(index);
      }
    });
    spawn([&q] { q.pop(); });
    join();
    q.finish();
  });
}

// An index on its second life is pushed; another push moves tail to it, a third goes on from there:
// it must not take the link of the first life for one of the second.
TEST(IndexQueue, HelpedTailAgainstPush) {
  run_model({2, 2}, [] {
    Queue q;
    for (uint32_t i = 0; i < 3; ++i) q.push(i);
    expect(q.pop() == 0, "the oldest");
    spawn([&q] { q.push(0); });
    spawn([&q] { q.push(3); });
    spawn([&q] { q.push(4); });
    join();
    q.finish();
  });
}

// One who pops and pushes the same again, while a second push has to move tail for it, and a third
// relies on that tail.
TEST(IndexQueue, HelpedTailAgainstPops) {
  run_model({2, 2}, [] {
    Queue q;
    for (uint32_t i = 0; i < 2; ++i) q.push(i);
    spawn([&q] {
      const uint32_t index = q.pop();
      if (index != kNothing) q.push(index);
    });
    spawn([&q] { q.push(3); });
    spawn([&q] {
      q.pop();
      q.pop();
    });
    join();
    q.finish();
  });
}

}  // namespace
}  // namespace attrcache::model
