// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the library keeps for each thread. In a model build each fiber is a thread.

#ifndef ATTRCACHE_PLATFORM_THREAD_H_
#define ATTRCACHE_PLATFORM_THREAD_H_

#include <cstdint>  // and with it __GLIBC__

namespace attrcache {

struct Frame;   // callback/frame.h
struct Borrow;  // callback/frame.h

// The state of a thread of the operating system or, if a runtime has given hooks for them, of a
// user-level thread (callback/threads.h).
struct ThreadState {
  // A small number that no other thread has which is alive or has left something borrowed. 0 until
  // somebody asks for it. It spreads threads over stripes. User-level threads have none: they use
  // the ordinal of the thread that they run on.
  unsigned ordinal;
  // The innermost callback that the thread is running, or operation on all attributes of a table.
  Frame* innermost;
  // What the thread has borrowed, the latest first.
  Borrow* borrows;
};

#ifdef ATTRCACHE_MODEL
ThreadState& this_thread();
inline unsigned thread_ordinal() { return this_thread().ordinal; }
#else
// With the model initial-exec the address takes one instruction; with a shared library's default it
// would take a call. The price is 24 bytes of the static TLS that glibc keeps in reserve for
// libraries that are opened late. Other C libraries have no such reserve.
#if defined(__GLIBC__) && !defined(ATTRCACHE_NO_INITIAL_EXEC)
#define ATTRCACHE_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define ATTRCACHE_TLS_MODEL
#endif
extern thread_local constinit ThreadState tls_state ATTRCACHE_TLS_MODEL;
inline ThreadState& this_thread() { return tls_state; }
unsigned assign_ordinal();
inline unsigned thread_ordinal() {
  const unsigned ordinal = tls_state.ordinal;
  return ordinal != 0 ? ordinal : assign_ordinal();
}
#endif

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_THREAD_H_
