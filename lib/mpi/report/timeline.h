// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A rank's trace (trace.h) as plain data, and how it is written as a Chrome trace: the JSON that
// chrome://tracing and Perfetto load, with a process per rank and a track per thread.

#ifndef ATTRCACHE_MPI_REPORT_TIMELINE_H_
#define ATTRCACHE_MPI_REPORT_TIMELINE_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace attrcache::mpi::report {

struct Moment {
  uint64_t start = 0;  // nanoseconds since 1970
  uint64_t duration = 0;
  int thread = 0;
  int keyval = 0;
  int code = 0;
  uint32_t name = 0;  // an index in Timeline::names
  uint8_t kind = 0;
  uint8_t what = 0;  // a report::What
};

struct Timeline {
  int pid = 0;
  uint64_t dropped = 0;
  std::vector<std::string> names;
  std::vector<Moment> moments;
};

// The timeline of this process. It is empty if the process isn't traced.
Timeline collect_timeline();

// Writes the timelines of several ranks into one file, one after the other.
class ChromeTrace {
 public:
  // `base` is the moment that is shown as 0.
  ChromeTrace(std::FILE* file, uint64_t base);
  ~ChromeTrace();
  ChromeTrace(const ChromeTrace&) = delete;
  ChromeTrace& operator=(const ChromeTrace&) = delete;
  void write(int rank, const std::string& host, const Timeline& timeline);

 private:
  std::FILE* file_;
  const uint64_t base_;
  bool first_ = true;
};

// The earliest start in a timeline, or the highest number if it is empty.
uint64_t first_moment(const Timeline& timeline);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_TIMELINE_H_
