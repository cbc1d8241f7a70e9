// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef ATTRCACHE_MPI_REPORT_GATHER_H_
#define ATTRCACHE_MPI_REPORT_GATHER_H_

#include <string>
#include <vector>

namespace attrcache::mpi::report {

// Brings each rank's bytes to rank 0, over MPI_COMM_WORLD, while all ranks are in MPI_Finalize.
// There may be at most INT_MAX divided by the number of ranks from each. Rank 0 gets all of them,
// by rank, and the others get nothing. If this isn't done after `seconds`, because some rank runs
// without this library, or comes that much later than the others, rank 0 gets only its own.
std::vector<std::string> gather(const std::string& mine, int rank, int ranks, double seconds);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_GATHER_H_
