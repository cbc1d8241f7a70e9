// SPDX-License-Identifier: Apache-2.0
//
// When the report begins and ends. It begins when MPI_Init has returned (init.cc), or with the
// first keyval if that comes earlier. It ends in MPI_Finalize, which deletes the attributes of
// MPI_COMM_SELF in the reverse order of setting before anything else, and calls us by the last of
// them: the program's own callbacks there have run by then, and the ranks can still communicate. A
// program that never gets there reports when it exits, each rank for itself and without MPI.

#ifndef ATTRCACHE_MPI_REPORT_LIFE_H_
#define ATTRCACHE_MPI_REPORT_LIFE_H_

#include <cstdint>

namespace attrcache::mpi {
struct Served;
}

namespace attrcache::mpi::report {

// Called when the process is served, and again when MPI_Init has returned. Again: does nothing.
void begin(const Served& state);

// Nanoseconds since then.
uint64_t since_begin();

}  // namespace attrcache::mpi::report

namespace attrcache::mpi::probe {
inline void begun(const Served& state) { report::begin(state); }
}  // namespace attrcache::mpi::probe

#endif  // ATTRCACHE_MPI_REPORT_LIFE_H_
