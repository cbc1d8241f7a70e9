// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How a thread waits for another one. In a model build the explorer's scheduler does the waiting.

#ifndef ATTRCACHE_PLATFORM_WAIT_H_
#define ATTRCACHE_PLATFORM_WAIT_H_

#include <cstdint>

#include "platform/atomic.h"

namespace attrcache {

// A wait that nobody ends by a wake-up. The caller looks at its condition again and again, and
// calls relax() each time that it is false. relax() spins at first, since the other thread may need
// only a few instructions more. Then it yields, since that thread may wait for this processor. Then
// it sleeps, longer each time, up to a millisecond: where this thread has a higher priority
// (SCHED_FIFO), a yield lets no other thread run.
class Backoff {
 public:
  void relax();

 private:
  unsigned round_ = 0;
};

// The first 100 microseconds or so of a wait, within which most waits end: spinning and yielding.
// It ends by the clock, too, as a single yield takes milliseconds where many threads want the
// processor.
class Patience {
 public:
  // Lets some time pass. False: it has lasted long enough, and nothing was done.
  bool pass();

 private:
  unsigned round_ = 0;
  [[maybe_unused]] int64_t end_ = 0;  // nanoseconds; 0: it has not yielded yet
};

// Sleeps in the kernel, which takes no processor time, until wake_all() is called on `word`, or
// sooner: the caller must look again. If `word` isn't `seen` any more this doesn't sleep. The
// kernel compares it and puts the thread to sleep in one step. So no wake-up is missed that comes
// after a change of `word`. Where there are no futexes it is a short nap.
void sleep_while(const Atomic<uint32_t>& word, uint32_t seen);
void wake_all(const Atomic<uint32_t>& word);

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_WAIT_H_
