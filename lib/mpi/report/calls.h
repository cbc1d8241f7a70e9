// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The MPI functions that the report calls, besides those in native.h. They, too, are looked up at
// run time with dlsym.

#ifndef ATTRCACHE_MPI_REPORT_CALLS_H_
#define ATTRCACHE_MPI_REPORT_CALLS_H_

#include "mpi/native/facts.h"

namespace attrcache::mpi::report {

struct MpiCalls {
  decltype(&PMPI_Comm_rank) comm_rank;
  decltype(&PMPI_Comm_size) comm_size;
  decltype(&PMPI_Igather) igather;
  decltype(&PMPI_Igatherv) igatherv;
  decltype(&PMPI_Test) test;
};

// Ends the process if MPI lacks one of them.
const MpiCalls& calls();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_CALLS_H_
