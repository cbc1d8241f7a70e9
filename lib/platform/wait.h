// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How a thread waits for another one. A model build hands the waiting to its scheduler.

#ifndef ATTRCACHE_PLATFORM_WAIT_H_
#define ATTRCACHE_PLATFORM_WAIT_H_

#include <cstdint>

#include "platform/pair.h"

namespace attrcache {

// A wait that nobody ends by a call: call relax() each time the condition is found false. It spins
// briefly, then yields, then sleeps for ever longer, up to a millisecond.
class Backoff {
 public:
  void relax();

 private:
  unsigned round_ = 0;
};

// A wait for a change of one slot's meta. It spins and yields for some 100 microseconds, in which
// most waits end; then it sleeps in the kernel, so that a borrow that lasts for seconds costs no
// processor.
class SlotWait {
 public:
  // Returns after a wake() on that slot, or sooner: look again. `meta` is what the caller has seen
  // there; if its upper half has changed since, this doesn't sleep. (The kernel compares it and
  // puts the thread to sleep in one step, and wake() comes after the change, so none is missed.)
  void until_changed(const Pair& slot, uint64_t meta);

 private:
  unsigned round_ = 0;
};

// Wakes all who wait for that slot. Never touches it: it may have been freed since the change.
void wake(const Pair& slot);

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_WAIT_H_
