// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The settings of the report, from the environment:
//
//   ATTRCACHE_REPORT        where the report goes: files, separated by colons. A file whose name
//                           ends in .json gets JSON, others get text; "-" is standard error.
//                           For one ending in .html, its data are written for attrcache-run
//   ATTRCACHE_TRACE         a file, which gets a Chrome trace
//   ATTRCACHE_TRACE_SLOW    from how many microseconds on an operation is in the trace; default 10
//   ATTRCACHE_TRACE_EVENTS  how many events are kept per rank; default 50000, or
//                           fewer if there are many ranks, so that all ranks keep 500000
//   ATTRCACHE_REPORT_WAIT   how many seconds the ranks wait for each other at the end; default 300

#ifndef ATTRCACHE_MPI_REPORT_SETTINGS_H_
#define ATTRCACHE_MPI_REPORT_SETTINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace attrcache::mpi::report {

struct Settings {
  std::vector<std::string> targets;
  std::string trace;
  uint64_t slow = 10'000;  // nanoseconds
  size_t events = 50'000;
  bool events_asked = false;  // whether the environment says how many
  double wait = 300;
  // How many events each of so many ranks keeps. Unless the environment says it, thousands of ranks
  // keep few each, so that rank 0 can hold and write them all.
  size_t events_of(int ranks) const {
    constexpr size_t kOfAllRanks = 500'000;
    const size_t share = kOfAllRanks / static_cast<size_t>(ranks);
    return events_asked || events < share ? events : share > 0 ? share : 1;
  }
  bool any() const { return !targets.empty() || !trace.empty(); }
};

// The environment is read once. If something isn't the number that it should be, that is said on
// standard error, and the default is taken.
const Settings& settings();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_SETTINGS_H_
