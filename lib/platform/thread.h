// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the library keeps per thread. A model build gives each of its fibers a state of its own.

#ifndef ATTRCACHE_PLATFORM_THREAD_H_
#define ATTRCACHE_PLATFORM_THREAD_H_

namespace attrcache {

struct Frame;   // callback/frame.h
struct Borrow;  // callback/frame.h

// Of a thread of the operating system or, where a runtime has hooks for them, of a user-level
// thread (callback/threads.h).
struct ThreadState {
  // Small and dense, unique among the living (and the dead that left something borrowed); 0 until
  // asked for. It spreads threads over stripes. User-level threads have none: they use that of the
  // thread they run on.
  unsigned ordinal;
  // The innermost callback that this thread runs, or operation on a whole table that it is in.
  Frame* innermost;
  // What it has borrowed, the latest first.
  Borrow* borrows;
};

#ifdef ATTRCACHE_MODEL
ThreadState& this_thread();
inline unsigned thread_ordinal() { return this_thread().ordinal; }
#else
// initial-exec: one instruction, where a shared library's default would be a call. It takes 24
// bytes of the static TLS that glibc keeps in reserve for libraries opened late.
extern thread_local constinit ThreadState tls_state __attribute__((tls_model("initial-exec")));
inline ThreadState& this_thread() { return tls_state; }
unsigned assign_ordinal();
inline unsigned thread_ordinal() {
  const unsigned ordinal = tls_state.ordinal;
  return ordinal != 0 ? ordinal : assign_ordinal();
}
#endif

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_THREAD_H_
