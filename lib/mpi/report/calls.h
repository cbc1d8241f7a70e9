// SPDX-License-Identifier: Apache-2.0
//
// What of MPI the report needs, besides what native.h has: found at run time, too.

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

// Ends the process if MPI lacks one.
const MpiCalls& calls();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_CALLS_H_
