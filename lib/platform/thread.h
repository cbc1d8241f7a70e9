// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the library keeps for each thread. In a model build each fiber is a thread.

#ifndef ATTRCACHE_PLATFORM_THREAD_H_
#define ATTRCACHE_PLATFORM_THREAD_H_

#include <cstdint>  // and with it __GLIBC__

#include "attrcache/attrcache.h"

namespace attrcache {

struct Frame;  // callback/frame.h

// The state of a thread of the operating system or, if a runtime has given hooks for them, of a
// user-level thread (attrcache_thread_hooks).
struct ThreadState {
  // A number that no other thread of the process ever has. It is odd: so it is no address of a
  // user-level thread's state, by which such a thread is known, and it tells a free cell from one
  // in use (Announcement::what). 0 until assigned.
  uint64_t identity;
  // A small number that selects the thread's stripes and records. No other living thread has it,
  // unless there are 65,536 or more; another may get it when this one has ended. 0 until it is
  // needed. User-level threads have none: they use that of the thread that they run on.
  unsigned ordinal;
  // If the ordinal is below kNearOrdinals: the offset in bytes of this thread's record among the
  // first of a domain; else 0.
  unsigned near_record;
  // The innermost of the thread's operations that may run callbacks (callback/frame.h).
  Frame* innermost;
  // How many deletions this thread has handed off, for a caller that counts them.
  unsigned handed_off = 0;
  // Whether it has given its first ordinal back, because it ends.
  bool late = false;
};
static_assert(sizeof(ThreadState) <= sizeof(attrcache_thread));

#ifdef ATTRCACHE_MODEL
inline constexpr unsigned kNearOrdinals = 8;  // each execution makes their records anew
#else
inline constexpr unsigned kNearOrdinals = 32;
#endif
inline constexpr unsigned kRecordSize = 192;  // readers/thread_record.h

#ifdef ATTRCACHE_MODEL
ThreadState& this_thread();
inline unsigned thread_ordinal() { return this_thread().ordinal; }
#else
// With the model initial-exec the address takes one instruction; with a shared library's default it
// would take a call. The price is 32 bytes of the static TLS that glibc keeps in reserve for
// libraries that are opened late. Other C libraries have no such reserve.
#if defined(__GLIBC__) && !defined(ATTRCACHE_NO_INITIAL_EXEC)
#define ATTRCACHE_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define ATTRCACHE_TLS_MODEL
#endif
// __thread, because C++17 can't say of a thread_local variable that it needs no initialization.
extern __thread ThreadState tls_state ATTRCACHE_TLS_MODEL;
inline ThreadState& this_thread() { return tls_state; }
unsigned assign_ordinal();
inline unsigned thread_ordinal() {
  const unsigned ordinal = tls_state.ordinal;
  return ordinal != 0 ? ordinal : assign_ordinal();
}
#endif
// Whether a thread has that ordinal. If not, this acquires all that its last thread has done.
bool is_taken(unsigned ordinal);

// Tells a domain which thread is calling: of the operating system, or a user-level thread.
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

#endif  // ATTRCACHE_PLATFORM_THREAD_H_
