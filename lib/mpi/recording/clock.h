// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef ATTRCACHE_MPI_RECORDING_CLOCK_H_
#define ATTRCACHE_MPI_RECORDING_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace attrcache::mpi::report {

// Nanoseconds since a moment that is fixed on this machine.
inline uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_RECORDING_CLOCK_H_
