// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How a thread waits for another one. In the core only one thing does: a Pair that is stored in
// steps of 8 bytes. In a model build the explorer's scheduler does the waiting.

#ifndef ATTRCACHE_PLATFORM_WAIT_H_
#define ATTRCACHE_PLATFORM_WAIT_H_

namespace attrcache {

// The caller looks at its condition again and again, and calls relax() each time that it is false.
// relax() spins at first, since the other thread may need only a few instructions more. Then it
// yields, since that thread may wait for this processor. Then it sleeps, longer each time, up to a
// millisecond: where this thread has a higher priority (SCHED_FIFO), a yield lets no other thread
// run.
class Backoff {
 public:
  void relax();

 private:
  unsigned round_ = 0;
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_WAIT_H_
