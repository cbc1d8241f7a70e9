// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Tells a domain which thread is calling: a thread of the operating system or, if the runtime has
// given hooks for them (attrcache_thread_hooks), a user-level thread.

#ifndef ATTRCACHE_CALLBACK_THREADS_H_
#define ATTRCACHE_CALLBACK_THREADS_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "platform/thread.h"

namespace attrcache {

static_assert(sizeof(ThreadState) <= sizeof(attrcache_thread));

class Threads {
 public:
  explicit Threads(const attrcache_thread_hooks& hooks) : hooks_(hooks) {}

  bool hooked() const { return hooks_.self != nullptr; }

  // The state of the calling thread.
  ThreadState& self() const {
    ThreadState* const user_level = known();
    return user_level != nullptr ? *user_level : this_thread();
  }

  // A number by which other threads know this one. No other thread that is alive, or that ended
  // with a value borrowed, has the same.
  uint64_t identity() const {
    if (ThreadState* const user_level = known()) return reinterpret_cast<uintptr_t>(user_level);
    thread_ordinal();
    return this_thread().identity;
  }

 private:
  // The user-level thread that the runtime knows; null: there is none.
  ThreadState* known() const {
    if (!hooked()) [[likely]]
      return nullptr;
    return reinterpret_cast<ThreadState*>(hooks_.self(hooks_.context));
  }
  const attrcache_thread_hooks hooks_;
};

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_THREADS_H_
