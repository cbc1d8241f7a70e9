// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// When the report begins and ends. It begins when MPI_Init has returned (entries/init.cc), or with
// the first keyval if that comes earlier. It ends in MPI_Finalize, which first of all deletes the
// attributes of MPI_COMM_SELF in the reverse order of setting. The last of them is the report's,
// whose delete callback writes the report: the program's own callbacks on MPI_COMM_SELF have run by
// then, and the ranks can still communicate. A process that never gets there reports when it exits,
// each rank for itself and without MPI.

#ifndef ATTRCACHE_MPI_REPORT_LIFE_H_
#define ATTRCACHE_MPI_REPORT_LIFE_H_

#include <cstdint>

namespace attrcache::mpi {
struct Process;
}

namespace attrcache::mpi::report {

// Called when the process begins to be served, and again when MPI_Init has returned. A later call
// does no more than attach the report's attribute to MPI_COMM_SELF, if that wasn't possible before.
void begin(const Process& state);

// Nanoseconds since begin().
uint64_t since_begin();

}  // namespace attrcache::mpi::report

namespace attrcache::mpi::probe {
inline void begun(const Process& state) { report::begin(state); }
}  // namespace attrcache::mpi::probe

#endif  // ATTRCACHE_MPI_REPORT_LIFE_H_
