// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How a thread waits for another one. In a model build the explorer's scheduler does the waiting.

#ifndef ATTRCACHE_PLATFORM_WAIT_H_
#define ATTRCACHE_PLATFORM_WAIT_H_

#include <cstdint>

#include "platform/pair.h"

namespace attrcache {

// A wait that nobody ends by a wake-up. The caller looks at its condition again and again, and
// calls relax() each time that it is false. relax() spins at first, then yields, then sleeps,
// longer each time, up to a millisecond.
class Backoff {
 public:
  void relax();

 private:
  unsigned round_ = 0;
};

// A wait for a change of one slot's meta. It spins and yields for some 100 microseconds, because
// most waits end within that time. Then it sleeps in the kernel, so that waiting for a borrow that
// lasts for seconds takes no processor time.
class SlotWait {
 public:
  // Returns after a wake() on that slot, or sooner, so the caller must look again. `meta` is what
  // the caller has seen there. If its upper half has changed since, this doesn't sleep: the kernel
  // compares it and puts the thread to sleep in one step, and wake() comes after the change, so no
  // change is missed.
  void until_changed(const Pair& slot, uint64_t meta);

 private:
  unsigned round_ = 0;
};

// Wakes all threads that wait for that slot. It passes the slot's address to the kernel and never
// reads the slot, because the memory may have been released since the change.
void wake(const Pair& slot);

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_WAIT_H_
