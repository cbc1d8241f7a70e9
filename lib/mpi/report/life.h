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

namespace attrcache::mpi::report {

// Nanoseconds since the report began.
uint64_t since_begin();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_LIFE_H_
