// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Tells a domain which thread is calling: a thread of the operating system or, if the runtime has
// given hooks for them (attrcache_thread_hooks), a user-level thread.

#ifndef ATTRCACHE_CALLBACK_THREADS_H_
#define ATTRCACHE_CALLBACK_THREADS_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "platform/thread.h"
#include "platform/wait.h"

namespace attrcache {

static_assert(sizeof(ThreadState) <= sizeof(attrcache_thread));

class Threads {
 public:
  explicit Threads(const attrcache_thread_hooks& hooks) : hooks_(hooks) {}

  bool hooked() const { return hooks_.self != nullptr; }

  // The state of the calling thread.
  ThreadState& self() const {
    if (hooked()) [[unlikely]] {
      if (attrcache_thread* known = hooks_.self(hooks_.context)) {
        return *reinterpret_cast<ThreadState*>(known);
      }
    }
    return this_thread();
  }

  // A number by which other threads know this one. No other thread that is alive, or that ended
  // with a value borrowed, has the same.
  uint64_t identity() const {
    if (hooked()) [[unlikely]] {
      if (attrcache_thread* known = hooks_.self(hooks_.context)) {
        return reinterpret_cast<uintptr_t>(known);
      }
    }
    thread_ordinal();
    return this_thread().identity;
  }

  // Waits a while, for a caller that looks at its condition again afterwards. A user-level thread
  // lets others run, since the one that it waits for may need the same thread of the operating
  // system to go on.
  void wait(Backoff& backoff) const {
    if (hooked() && hooks_.self(hooks_.context) != nullptr) return hooks_.yield(hooks_.context);
    backoff.relax();
  }

 private:
  const attrcache_thread_hooks hooks_;
};

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_THREADS_H_
