// SPDX-License-Identifier: Apache-2.0

#ifndef ATTRCACHE_MPI_REPORT_GATHER_H_
#define ATTRCACHE_MPI_REPORT_GATHER_H_

#include <string>
#include <vector>

namespace attrcache::mpi::report {

// Brings each rank's bytes (at most INT_MAX divided by the number of ranks) to rank 0, over
// MPI_COMM_WORLD, while all are in MPI_Finalize. There: all of them, by rank; elsewhere nothing. If
// that isn't done after `seconds`, because some rank is not served by this library, or that much
// later than the others: rank 0 has its own alone.
std::vector<std::string> gather(const std::string& mine, int rank, int ranks, double seconds);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_GATHER_H_
