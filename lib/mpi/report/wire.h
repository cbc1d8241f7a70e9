// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How a rank's part is sent to rank 0: numbers and strings one after the other. There is no version
// number, because all ranks run the same library.

#ifndef ATTRCACHE_MPI_REPORT_WIRE_H_
#define ATTRCACHE_MPI_REPORT_WIRE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/report/summary.h"
#include "mpi/report/timeline.h"

namespace attrcache::mpi::report {

struct Part {
  Summary summary;
  Timeline timeline;
};

std::string pack(const Part& part);
// Returns false if `bytes` isn't what pack() makes.
bool unpack(const std::string& bytes, Part* part);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_WIRE_H_
