// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A point in an execution, and whether one point happens before another.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_MOMENT_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_MOMENT_H_

#include <cstdint>

#include "tests/model/explorer/types.h"

namespace attrcache::model {

struct Moment {
  unsigned thread;              // kMaxThreads: the program, before or after its threads
  uint16_t knows[kMaxThreads];  // how much of each thread happens before it
};

// Where the running thread is now.
Moment now();

// Whether `a` happens before `b`, or is `b` in the same thread.
inline bool happens_before(const Moment& a, const Moment& b) {
  if (a.thread == kMaxThreads) return true;  // only the time before the threads is compared so
  return b.thread == kMaxThreads || b.knows[a.thread] >= a.knows[a.thread];
}

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_MOMENT_H_
