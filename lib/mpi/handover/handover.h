// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The way from a process to the launcher (tools/run/collector.py, which describes the messages),
// wherever that runs. ATTRCACHE_LAUNCHER says where it listens; without it there is no launcher, and
// nothing is sent. It costs a process one connection when it has initialized MPI, and one for what
// it hands over at its end; between them nothing is open.

#ifndef ATTRCACHE_MPI_HANDOVER_HANDOVER_H_
#define ATTRCACHE_MPI_HANDOVER_HANDOVER_H_

#include <cstddef>

namespace attrcache::mpi {

// Who this process is. Filled in when it has initialized MPI; until then no rank is known.
struct Identity {
  char host[256];
  int rank;     // in MPI_COMM_WORLD; -1 if there is none
  int size;     // of MPI_COMM_WORLD; 0 if there is none
  bool parent;  // whether MPI_Comm_spawn has started it
};

// Of this process. May be called any time, by any thread; asks MPI until it knows the rank.
const Identity& identity();

// Tells the launcher, once, that this process has initialized MPI and that it is served, or why it
// isn't (`declined`). Waits for at most a second, if the launcher can't be reached. Failures are told
// with ATTRCACHE_VERBOSE=1.
void introduce(const char* declined);

// Hands `size` bytes to the launcher, as `what` (a word: "report"). With `partial` it is said that
// more might have followed. Returns false if nobody has taken them. Calls nothing of MPI's, so that
// it may be called after MPI_Finalize, and in a process that is about to end.
bool hand_over(const char* what, const void* bytes, size_t size, bool partial);

// Whether there is a launcher to hand over to.
bool has_launcher();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_HANDOVER_HANDOVER_H_
