// SPDX-License-Identifier: Apache-2.0
//
// What the environment asks for.
//
//   ATTRCACHE_REPORT        where to: files, separated by colons. One that ends in .json gets JSON,
//                           others text; "-" is standard error
//   ATTRCACHE_TRACE         a file, which gets a Chrome trace
//   ATTRCACHE_TRACE_SLOW    microseconds from which on an operation is in the trace; default 10
//   ATTRCACHE_TRACE_EVENTS  how many events are kept, per rank; default 50000
//   ATTRCACHE_REPORT_WAIT   seconds that ranks wait for each other at the end; default 300

#ifndef ATTRCACHE_MPI_REPORT_WISHES_H_
#define ATTRCACHE_MPI_REPORT_WISHES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace attrcache::mpi::report {

struct Wishes {
  std::vector<std::string> targets;
  std::string trace;
  uint64_t slow = 10'000;  // nanoseconds
  size_t events = 50'000;
  double wait = 300;
  bool any() const { return !targets.empty() || !trace.empty(); }
};

// Read once. A number that is none is told on standard error, and the default taken.
const Wishes& wishes();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_WISHES_H_
