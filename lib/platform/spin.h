// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A wait for another thread that needs only a few instructions more. That thread may have been
// preempted, so after a few looks the waiter yields its processor. Otherwise, with more threads
// than processors, the waiters would use up their time slices while the thread that they wait for
// has none. In a model build wait() lets another thread run.

#ifndef ATTRCACHE_PLATFORM_SPIN_H_
#define ATTRCACHE_PLATFORM_SPIN_H_

namespace attrcache {

class Spin {
 public:
  // To be called each time that the condition is found false.
  void wait();

 private:
  unsigned rounds_ = 0;
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_SPIN_H_
