// SPDX-License-Identifier: Apache-2.0

#ifndef ATTRCACHE_MPI_REPORT_OUTPUT_H_
#define ATTRCACHE_MPI_REPORT_OUTPUT_H_

#include <cstdio>
#include <string>
#include <vector>

#include "mpi/report/wire.h"
#include "mpi/report/wishes.h"

namespace attrcache::mpi::report {

// What the ranks that were heard of say, all together.
struct Everything {
  int ranks = 0;  // of the job
  const std::vector<Part>& parts;
  Summary sum;
};

void write_text(std::FILE* file, const Everything& all);
void write_json(std::FILE* file, const Everything& all);
void write_trace(std::FILE* file, const Everything& all);

// Writes all that is wished for. `suffix` goes before the ending of each file's name. What can't be
// written is told on standard error.
void write_all(const std::vector<Part>& parts, int ranks, const Wishes& wishes,
               const std::string& suffix);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_OUTPUT_H_
