// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The free indices of one kind, first in first out. So an index rests as long as possible between
// two keyvals, and stale keyvals stay recognizable for as long.
//
// This is the queue of Michael and Scott (PODC 1996), with two simplifications that its use here
// allows: an index is a node itself, and pop() hands out the old dummy node, so that one free index
// always stays behind as the dummy. Nodes are not unmapped while the domain lives. A 32-bit count
// beside each link keeps compare-and-swap from ABA.
//
// The caller numbers the nodes as it likes, except that 0 means none. `Links` finds the link of a
// node: Atomic<uint64_t>& operator()(uint32_t node). All operations are lock-free.

#ifndef ATTRCACHE_KEYVAL_INDEX_QUEUE_H_
#define ATTRCACHE_KEYVAL_INDEX_QUEUE_H_

#include <cstdint>

#include "platform/atomic.h"

namespace attrcache {

class IndexQueue {
 public:
  static constexpr uint32_t kNone = 0;

  // Adds a node, which only the caller may know until then, and whose link is `mine`.
  template <typename Links>
  [[gnu::always_inline]] void push(uint32_t node, Atomic<uint64_t>& mine, Links link);

  // Takes the oldest node out and returns it, if at least `spare` others stay behind besides the
  // dummy. Else it returns kNone.
  template <typename Links>
  [[gnu::always_inline]] uint32_t pop(uint32_t spare, Links link);

 private:
  // A link has the node that it leads to in its high half, and a count of its changes in the low
  // one.
  static constexpr uint32_t target(uint64_t link) { return static_cast<uint32_t>(link >> 32); }
  static constexpr uint32_t count(uint64_t link) { return static_cast<uint32_t>(link); }
  static constexpr uint64_t next_link(uint64_t old, uint32_t target) {
    return uint64_t{target} << 32 | (count(old) + 1);
  }

  Atomic<uint64_t> head_{0};
  Atomic<uint64_t> tail_{0};
};

template <typename Links>
inline void IndexQueue::push(uint32_t node, Atomic<uint64_t>& mine, Links link) {
  mine.store(next_link(mine.load(kRelaxed), 0), kRelaxed);  // published by Q1 or Q3
  for (;;) {
    uint64_t tail = tail_.load(kAcquire);  // (Q2) pairs with Q1, Q4
    if (target(tail) == 0) [[unlikely]] {
      // The queue was never used, so the first node becomes the dummy.
      if (tail_.compare_exchange_strong(tail, next_link(0, node), kAcqRel, kRelaxed))
        return;  // (Q1)
      continue;
    }
    if (count(tail) == 1) [[unlikely]] {
      // Until the second push the dummy is alone in the queue, and head isn't needed. So the second
      // push sets head.
      uint64_t head = 0;
      head_.compare_exchange_strong(head, tail, kAcqRel, kRelaxed);  // (Q1) pairs with Q2
    }
    Atomic<uint64_t>& last = link(target(tail));
    uint64_t next = last.load(kAcquire);  // pairs with Q3
    if (tail != tail_.load(kAcquire))
      continue;  // `next` may be of an earlier time, when that node was in the queue before
    if (target(next) != 0) {
      tail_.compare_exchange_strong(tail, next_link(tail, target(next)), kAcqRel,
                                    kRelaxed);  // (Q4)
      continue;
    }
    // (Q3) release: a thread that follows the link sees what was written to the index's entry.
    if (last.compare_exchange_strong(next, next_link(next, node), kAcqRel, kRelaxed)) {
      // (Q4) pairs with Q2
      tail_.compare_exchange_strong(tail, next_link(tail, node), kAcqRel, kRelaxed);
      return;
    }
  }
}

template <typename Links>
inline uint32_t IndexQueue::pop(uint32_t spare, Links link) {
  for (;;) {
    uint64_t head = head_.load(kAcquire);  // (Q5) pairs with Q6 and Q1
    uint64_t tail = tail_.load(kAcquire);  // (Q2) pairs with Q1, Q4
    // Every change of tail but the first is a push, every change of head a pop. So if the length is
    // above 0, tail is beyond head's node, which therefore has a successor.
    const auto length = static_cast<int32_t>(count(tail) - count(head));
    const uint32_t node = target(head);
    if (length <= static_cast<int32_t>(spare) || node == 0) return kNone;
    const uint64_t next = link(node).load(kAcquire);  // pairs with Q3
    // If it has none, the node was taken out and pushed again meanwhile. If that doesn't show here,
    // it makes Q6 fail.
    if (target(next) == 0) [[unlikely]]
      continue;
    // (Q6) acq_rel: the node is ours now, and we see all that its last owner has done to it.
    if (head_.compare_exchange_strong(head, next_link(head, target(next)), kAcqRel, kRelaxed)) {
      return node;
    }
  }
}

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_INDEX_QUEUE_H_
