// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A guard that keeps the calling thread on one processor. Threads that are measured together get
// one each. Otherwise the scheduler may start two of them on the same processor, which looks like
// contention in a run of a few milliseconds.

#ifndef BENCH_HARNESS_PINNED_H_
#define BENCH_HARNESS_PINNED_H_

#include <sched.h>

namespace bench {

class Pinned {
 public:
  // Pins to the processor with this number, counted from 0 among those that the process may use.
  // Does nothing if the process has fewer, or if the number is negative.
  explicit Pinned(int number) {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    if (number < 0 || number >= CPU_COUNT(&before_)) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_) || number-- != 0) continue;
      CPU_SET(cpu, &one);
      pinned_ = sched_setaffinity(0, sizeof one, &one) == 0;
      return;
    }
  }
  ~Pinned() {
    if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_;
  bool pinned_ = false;
};

}  // namespace bench

#endif  // BENCH_HARNESS_PINNED_H_
