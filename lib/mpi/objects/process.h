// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the interposer has once per process: a domain, which lives as long as the process, and MPI's
// keyvals for the anchors (anchor.h). All are made when the program makes its first keyval
// (serving/begin.h).

#ifndef ATTRCACHE_MPI_OBJECTS_PROCESS_H_
#define ATTRCACHE_MPI_OBJECTS_PROCESS_H_

#include "attrcache/attrcache.h"
#include "mpi/native/kinds.h"
#include "platform/atomic.h"

namespace attrcache::mpi {

struct Process {
  attrcache_domain* domain;
  attrcache_kind* kinds[kAllKinds];
  int anchor_keyvals[kMpiKinds];  // MPI's own keyvals, under which it keeps the anchors
  // True for a kind that is left to MPI. A tool in front of attrcache wraps some of this kind's
  // functions and may call PMPI_ names in turn, where a keyval of attrcache's is unknown.
  bool wrapped_by_tool[kMpiKinds];
  // MPI's keyval of the attribute by which MPI_Finalize is noticed: see finalize_object() in
  // serving/begin.cc
  int finalize_keyval;
};

// (MP1) Null until the first keyval is made, and never changed after that. The acquire below pairs
// with the release in begin_first(). What it points to changes only when MPI begins anew, before
// anybody can use that (begin_anew).
[[gnu::visibility("hidden")]] extern constinit Atomic<Process*> process_state;
inline const Process* process() { return process_state.load(kAcquire); }  // (MP1)

// May only be called once a keyval of attrcache's exists.
template <typename Kind>
inline attrcache_kind* kind_of() {
  return process()->kinds[Kind::kNumber];
}

// Whether MPI_Finalize has already deleted those of the program's attributes that it deletes. (MP2)
// The acquire pairs with the release in finalize_attribute_deleted() in serving/begin.cc. A call
// that races with MPI_Finalize is an error of the program.
[[gnu::visibility("hidden")]] extern constinit Atomic<bool> ending_state;
inline bool ending() { return ending_state.load(kAcquire); }  // (MP2)

// How many sessions are alive, and one more from MPI_Init, or from a beginning that wasn't seen, to
// MPI_Finalize. serving/lifetime.cc keeps it; where sessions aren't seen, MPI itself is asked
// instead (facts::kSessionCount). It is relaxed, because a program must itself order its calls
// after the beginning and before the end of what they use.
[[gnu::visibility("hidden")]] extern constinit Atomic<long> mpi_users;

// Whether a session lives; `besides`: how many others are counted that use MPI, which is 1 while
// MPI_Finalize has not come to its end.
bool session_lives(long besides);  // slow

// Whether MPI takes no calls any more: MPI_Finalize has got so far, and no session has outlived it,
// or has begun since.
bool takes_no_calls();  // slow
inline bool over() { return ending() && takes_no_calls(); }

// ---- ATTRCACHE_VERBOSE, ATTRCACHE_CHECK, ATTRCACHE_REPORT ----

struct Counts {
  Atomic<uint64_t> objects{0};  // objects that got an anchor, by a first touch or a dup
  Atomic<uint64_t> sets{0};     // counted only if watched()
  Atomic<uint64_t> deletes{0};  // counted only if watched()
};
[[gnu::visibility("hidden")]] extern constinit Counts counts;
// The reasons why the fast paths of set and delete must take the slow path; kSanitized: ThreadSanitizer
// is there (tsan.h). With that or kCounted, gets in C take it, too, because
// HandleMap::find_at_home() finds nothing.
enum Watch : uint8_t { kVerbose = 1, kChecked = 2, kCounted = 4, kSanitized = 8 };
[[gnu::visibility("hidden")]] extern constinit Atomic<uint8_t> watch_state;
inline uint8_t watched() { return watch_state.load(kRelaxed); }
// Whether an environment variable is set, and not to 0. Slow.
bool is_wanted(const char* variable);
inline bool verbose() { return (watched() & kVerbose) != 0; }
// Whether operations are counted, for a report.
inline bool counting() { return (watched() & kCounted) != 0; }
inline void count(Atomic<uint64_t>& counter) { counter.fetch_add(1, kRelaxed); }

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_OBJECTS_PROCESS_H_
