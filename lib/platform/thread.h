// SPDX-License-Identifier: Apache-2.0
//
// What the library keeps per thread, and how a thread waits. A model build gives each of its fibers
// a state of its own and hands the waiting to its scheduler.

#ifndef ATTRCACHE_PLATFORM_THREAD_H_
#define ATTRCACHE_PLATFORM_THREAD_H_

namespace attrcache {

struct Frame;  // callback/frame.h

struct ThreadState {
  // Small and dense, unique among the living (and the dead that left something borrowed); 0 until
  // asked for. Spreads threads over stripes.
  unsigned ordinal;
  // The innermost use of an attribute by this thread (a callback running, a value borrowed).
  Frame* innermost;
};

#ifdef ATTRCACHE_MODEL
ThreadState& this_thread();
inline unsigned thread_ordinal() { return this_thread().ordinal; }
#else
// initial-exec: one instruction, where a shared library's default would be a call. It takes 16
// bytes of the static TLS that glibc keeps in reserve for libraries opened late.
extern thread_local constinit ThreadState tls_state __attribute__((tls_model("initial-exec")));
inline ThreadState& this_thread() { return tls_state; }
unsigned assign_ordinal();
inline unsigned thread_ordinal() {
  const unsigned ordinal = tls_state.ordinal;
  return ordinal != 0 ? ordinal : assign_ordinal();
}
#endif

// A wait for another thread to move: call relax() each time the condition is found false. Spins
// briefly, then yields, then sleeps for ever longer, up to a millisecond.
class Backoff {
 public:
  void relax();

 private:
  unsigned round_ = 0;
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_THREAD_H_
