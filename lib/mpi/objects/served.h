// SPDX-License-Identifier: Apache-2.0
//
// What the interposer has per process: one domain, which lives as long as the process, and the
// keyvals under which MPI keeps our anchors (anchor.h). Both are made when the program makes its
// first keyval, by whichever thread comes first, without a lock.

#ifndef ATTRCACHE_MPI_OBJECTS_SERVED_H_
#define ATTRCACHE_MPI_OBJECTS_SERVED_H_

#include "attrcache/attrcache.h"
#include "mpi/native/kinds.h"
#include "platform/atomic.h"

namespace attrcache::mpi {

struct Served {
  attrcache_domain* domain;
  attrcache_kind* kinds[kKinds];
  int anchors[kKinds];  // MPI's own keyvals
  // Left to MPI: a tool in front of us wraps some of this kind's functions, and may pass calls on
  // to PMPI_ names, where a keyval of ours is unknown.
  bool fronted[kKinds];
  int last;  // one more, which tells when MPI is being finalized: see last_object()
};

// (V1) Null until the first keyval is made; never changes again. Pairs with the release in
// begin_first().
[[gnu::visibility("hidden")]] extern constinit Atomic<const Served*> served_state;
inline const Served* served() { return served_state.load(kAcquire); }  // (V1)

// To be called by those who have a keyval.
template <typename Kind>
inline attrcache_kind* kind_of() {
  return served()->kinds[Kind::kNumber];
}

// Gives it, having made it if need be. Returns an MPI error code, which MPI has already raised:
// before MPI_Init and after MPI_Finalize it does what MPI does with a program that makes a keyval
// then.
int begin_first(const Served** state);
inline int begin(const Served** state) {
  *state = served();
  return *state != nullptr ? 0 : begin_first(state);
}

// What makes the paths of keyvals stop and look: one byte, so that it is one test.
// Without any, served() isn't null.
enum Attention : uint8_t { kEnding = 1, kChecking = 2, kFronted = 4, kNotServing = 8 };
[[gnu::visibility("hidden")]] extern constinit Atomic<uint8_t> attention_state;
inline uint8_t attention() { return attention_state.load(kAcquire); }  // (V2)

// Whether MPI_Finalize has deleted what it deletes of the program's attributes. (V2) pairs with the
// update in served.cc; a call that races with MPI_Finalize is the program's fault.
inline bool ending() { return (attention() & kEnding) != 0; }

// After ending(): whether MPI_Finalize has got so far that MPI no longer takes calls.
bool finalized();

// Called on every slow path: makes sure that the end will be noticed. No error: it is tried again.
void watch_for_end(const Served& state);

// ---- ATTRCACHE_VERBOSE ----

struct Counts {
  Atomic<uint64_t> objects{0};  // that got an anchor, by a first touch or a dup
  Atomic<uint64_t> sets{0};     // only when verbose
  Atomic<uint64_t> deletes{0};  // only when verbose
};
[[gnu::visibility("hidden")]] extern constinit Counts counts;
// What makes the paths of set and delete stop and look.
enum Watch : uint8_t { kVerbose = 1, kChecked = 2 };
[[gnu::visibility("hidden")]] extern constinit Atomic<uint8_t> watch_state;
inline uint8_t watched() { return watch_state.load(kRelaxed); }
// Whether ATTRCACHE_VERBOSE asks for it. Slow.
bool wants_words();
inline bool verbose() { return (watched() & kVerbose) != 0; }
inline void count(Atomic<uint64_t>& counter) { counter.fetch_add(1, kRelaxed); }

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_OBJECTS_SERVED_H_
