// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI's lives. MPI lives from the first MPI_Init or MPI_Session_init on, until its last session
// ends and MPI_Finalize has been called; another MPI_Session_init then begins a new life (MPI-4.1
// 11.3). A session may also outlive MPI_Finalize, and the life with it. From one life to the next
// Open MPI, and MPICH 4.2 and newer, forget their keyvals, those of the anchors too.

#ifndef ATTRCACHE_MPI_SERVING_LIFETIME_H_
#define ATTRCACHE_MPI_SERVING_LIFETIME_H_

#include "mpi/native/stack_place.h"

namespace attrcache::mpi {

// What keeps MPI alive: MPI_Init's world, or a session.
enum class Part { kWorld, kSession };

// Exists while an overridden function begins or ends a part of MPI. No callback of the program's
// may run meanwhile.
class LifetimeCall : private NestedCall {
 public:
  explicit LifetimeCall(Part part) : NestedCall(outermost_), part_(part) {}

  // MPI_Init or MPI_Session_init has succeeded. If that was the beginning of a further life,
  // serving begins anew before this returns, even if another thread's call was the first.
  void began() const;
  // MPI_Session_finalize has succeeded.
  void ended() const;

 private:
  static constinit thread_local StackPlace outermost_;
  const Part part_;
};

// Lets serving begin anew if a further life has begun in MPI_Session_init where that isn't
// overridden (facts::kSeesSessions is false). Call this before MPI is asked for an anchor.
void notice_further_life();

// MPI_Finalize has succeeded, or is deleting the attributes of MPI_COMM_SELF. May be called twice.
void world_ended();

// Serving begins, so MPI lives. If its beginning wasn't seen, its end can't be noticed.
void lives_already();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_SERVING_LIFETIME_H_
