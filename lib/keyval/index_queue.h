// SPDX-License-Identifier: Apache-2.0
//
// The free indices of one kind, first in first out, so that an index rests as long as possible
// between two keyvals and stale copies stay recognisable. The queue of Michael and Scott (PODC
// 1996), with two simplifications that its use here allows: an index is a node, and the node that
// pop() hands out is the old dummy, so one free index always stays behind as the dummy. Nodes are
// never unmapped while the domain lives; a 32-bit count beside each link keeps compare-and-swap
// from ABA.
//
// A Node is looked up by `Nodes`: Atomic<uint64_t>& operator()(uint32_t index). Lock-free.

#ifndef ATTRCACHE_KEYVAL_INDEX_QUEUE_H_
#define ATTRCACHE_KEYVAL_INDEX_QUEUE_H_

#include <cstdint>

#include "platform/atomic.h"

namespace attrcache {

class IndexQueue {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // Adds an index that is in nobody's hands.
  template <typename Nodes>
  [[gnu::always_inline]] void push(uint32_t index, Nodes link);

  // Takes the oldest index out, if at least `spare` others stay behind (besides the dummy); else
  // kNone.
  template <typename Nodes>
  [[gnu::always_inline]] uint32_t pop(uint32_t spare, Nodes link);

 private:
  // A link: index + 1 (0: none) in the low half, a count of changes in the high one.
  static constexpr uint32_t target(uint64_t link) { return static_cast<uint32_t>(link); }
  static constexpr uint64_t next_link(uint64_t old, uint32_t target) {
    return ((old >> 32) + 1) << 32 | target;
  }

  Atomic<uint64_t> head_{0};
  Atomic<uint64_t> tail_{0};
};

template <typename Nodes>
inline void IndexQueue::push(uint32_t index, Nodes link) {
  const uint32_t self = index + 1;
  Atomic<uint64_t>& mine = link(index);
  mine.store(next_link(mine.load(kRelaxed), 0), kRelaxed);  // published by Q1 or Q3
  for (;;) {
    uint64_t tail = tail_.load(kAcquire);  // (Q2) pairs with Q1, Q4
    if (target(tail) == 0) {
      // Never used: the first index ever pushed becomes the dummy. Until its pusher has set head as
      // well, pops find nothing, and their callers take a new index.
      if (tail_.compare_exchange_strong(tail, next_link(tail, self), kAcqRel, kRelaxed)) {  // (Q1)
        uint64_t head = 0;
        head_.compare_exchange_strong(head, next_link(0, self), kAcqRel, kRelaxed);
        return;
      }
      continue;
    }
    Atomic<uint64_t>& last = link(target(tail) - 1);
    uint64_t next = last.load(kAcquire);  // pairs with Q3
    if (tail != tail_.load(kAcquire))
      continue;  // `next` might belong to an older life of that node
    if (target(next) != 0) {
      tail_.compare_exchange_strong(tail, next_link(tail, target(next)), kAcqRel,
                                    kRelaxed);  // (Q4)
      continue;
    }
    // (Q3) release: whoever follows the link sees the index's state.
    if (last.compare_exchange_strong(next, next_link(next, self), kAcqRel, kRelaxed)) {
      tail_.compare_exchange_strong(tail, next_link(tail, self), kAcqRel, kRelaxed);  // as Q4
      return;
    }
  }
}

template <typename Nodes>
inline uint32_t IndexQueue::pop(uint32_t spare, Nodes link) {
  for (;;) {
    uint64_t head = head_.load(kAcquire);  // (Q5) pairs with Q6 and Q1
    uint64_t tail = tail_.load(kAcquire);  // as Q2
    // Tail's changes but the first are pushes, head's are pops.
    const auto length = static_cast<int32_t>((tail >> 32) - (head >> 32));
    if (target(head) == 0 || length <= static_cast<int32_t>(spare)) return kNone;
    const uint64_t next = link(target(head) - 1).load(kAcquire);  // pairs with Q3
    if (head != head_.load(kAcquire))
      continue;  // `next` might belong to an older life of that node
    if (target(next) == 0) return kNone;
    if (target(head) == target(tail)) {
      tail_.compare_exchange_strong(tail, next_link(tail, target(next)), kAcqRel,
                                    kRelaxed);  // as Q4
      continue;
    }
    // (Q6) acq_rel: the popped index is ours, with all that its last owner did to it.
    if (head_.compare_exchange_strong(head, next_link(head, target(next)), kAcqRel, kRelaxed)) {
      return target(head) - 1;
    }
  }
}

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_INDEX_QUEUE_H_
