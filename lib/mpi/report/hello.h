// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a process tells the launcher: that it has initialized MPI, and at its end what was counted.
// It costs one connection at each of these times; between them nothing is open.
// tools/run/collector.py describes the messages.

#ifndef ATTRCACHE_MPI_REPORT_HELLO_H_
#define ATTRCACHE_MPI_REPORT_HELLO_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace attrcache::mpi {

// What identifies this process. Filled in when it has initialized MPI; until then no rank is known.
struct Identity {
  char host[256];
  int rank;     // in MPI_COMM_WORLD; -1 if there is none
  int size;     // of MPI_COMM_WORLD; 0 if there is none
  bool parent;  // whether MPI_Comm_spawn has started it
};

// Of this process. May be called any time, by any thread; asks MPI until it knows the rank.
const Identity& identity();

// Names the MPI_COMM_WORLD that this process belongs to: the same for all of its ranks, and for no
// others of the command, as far as launchers give it a name. May be called any time, by any thread.
const std::string& world_name();

// Tells the launcher, once, that this process has initialized MPI and that it is served, or why it
// isn't (`declined`), and which kinds aren't (left_to_mpi, which isn't called if there is no
// launcher). Waits for at most 2.5 seconds, if the launcher can't be reached. Failures are
// reported with ATTRCACHE_VERBOSE=1.
void introduce(const char* declined, std::string (*left_to_mpi)());

// Hands `size` bytes to the launcher, as `what` (a word: "report"). Returns false if they
// weren't taken. Calls nothing of MPI's if the rank is known, so that it may be called at the end
// of a process.
bool tell_launcher(const char* what, const void* bytes, size_t size);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_REPORT_HELLO_H_
