// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The queue of free indices (lib/keyval/index_queue.h).

#include "keyval/index_queue.h"

#include "tests/model/genmc/harness.h"

namespace attrcache::genmc {

struct Queue {
  IndexQueue queue;
  Atomic<uint64_t> links[4] = {};
  volatile int owner[4] = {};  // written by the thread that has the index

  auto link() {
    return [this](uint32_t node) -> Atomic<uint64_t>& { return links[node - 1]; };
  }
  void push(uint32_t node) {
    owner[node - 1] = 1;
    queue.push(node, link()(node), link());
  }
  uint32_t pop() {
    const uint32_t node = queue.pop(0, link());
    if (node != IndexQueue::kNone) owner[node - 1] = 2;
    return node;
  }
};
constinit Queue q;
constinit uint32_t popped[2];

// GenMC would find a race of two owners. Indices come out in order, and one stays behind.
void two_pops() {
  for (uint32_t node = 1; node <= 3; ++node) q.push(node);
  run([] { popped[0] = q.pop(); }, [] { popped[1] = q.pop(); });
  expect(popped[0] + popped[1] == 3 && popped[0] != popped[1]);
}
void first_pushes() {
  run([] { q.push(1); }, [] { q.push(2); });
  expect(q.pop() != IndexQueue::kNone && q.pop() == IndexQueue::kNone);
}
void push_and_pop() {
  q.push(1);
  q.push(2);
  run([] { q.push(3); }, [] { expect(q.pop() == 1); });
  expect(q.pop() == 2 && q.pop() == IndexQueue::kNone);
}

}  // namespace attrcache::genmc

ATTRCACHE_GENMC_MAIN
