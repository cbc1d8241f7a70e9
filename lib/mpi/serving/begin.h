// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How serving begins and ends. It begins when the program makes its first keyval, by whichever
// thread comes first, without a lock. It ends in MPI_Finalize.

#ifndef ATTRCACHE_MPI_SERVING_BEGIN_H_
#define ATTRCACHE_MPI_SERVING_BEGIN_H_

#include <string>

#include "mpi/objects/process.h"

namespace attrcache::mpi {

// Gives the process's state, and makes it first if need be. Returns an MPI error code, which MPI
// has already raised. Before MPI_Init and after MPI_Finalize, MPI then does what it does with any
// program that makes a keyval at that time.
int begin_first(const Process** state);
inline int begin(const Process** state) {
  *state = process();
  return *state != nullptr ? 0 : begin_first(state);
}

// The kinds that are left to MPI because a tool in front wraps their functions, as "communicators,
// windows"; empty if none are. May be called before anything is served.
std::string left_to_mpi();

// Makes sure that the end of MPI will be noticed. It reports no error, because every slow path
// calls it, and so tries again.
void watch_for_end(const Process& state);

// Call this when a further life of MPI begins (lifetime.h). Open MPI, and MPICH 4.2 and newer, have
// forgotten their keyvals, and that there are attributes with callbacks; they would hand out the
// anchors' keyvals again, and call no anchor's callback any more. So the anchors get new keyvals.
// No object of the former life is left: the program's keyvals go on, as they are the process's. No
// other thread may ask MPI for an anchor meanwhile. Nothing happens if serving has never begun.
void begin_anew();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_SERVING_BEGIN_H_
