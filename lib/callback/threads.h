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

  // The state of the calling thread, and a number that no other thread has which is alive or has
  // left something borrowed.
  struct Caller {
    ThreadState& state;
    uint64_t identity;
  };
  Caller caller() const {
    ThreadState& state = self();
    if (hooked() && &state != &this_thread()) [[unlikely]]
      return {state, reinterpret_cast<uintptr_t>(&state)};
    return {state, thread_ordinal()};
  }

  // Waits as SlotWait does. A user-level thread yields by the runtime's hook instead, because the
  // thread that it waits for may need the same thread of the operating system to go on.
  void wait(SlotWait& wait, const Pair& slot, uint64_t meta) const {
    if (hooked() && hooks_.self(hooks_.context) != nullptr) {
      hooks_.yield(hooks_.context);
    } else {
      wait.until_changed(slot, meta);
    }
  }

  // The same where nobody ends the wait by a call.
  void wait(Backoff& backoff) const {
    if (hooked() && hooks_.self(hooks_.context) != nullptr) {
      hooks_.yield(hooks_.context);
    } else {
      backoff.relax();
    }
  }

 private:
  const attrcache_thread_hooks hooks_;
};

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_THREADS_H_
