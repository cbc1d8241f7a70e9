// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A wait for a thread that is within a few instructions of going on. It may have been preempted
// there, so after a few looks the waiter gives its processor up: with more threads than processors,
// those that wait would else use up their time slices while the one they wait for has none. In a
// model build another thread goes on at once.

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
