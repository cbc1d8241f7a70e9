// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef ATTRCACHE_MPI_REPORT_OUTPUT_H_
#define ATTRCACHE_MPI_REPORT_OUTPUT_H_

#include <cstdio>
#include <string>
#include <vector>

#include "mpi/report/settings.h"
#include "mpi/report/wire.h"

namespace attrcache::mpi::report {

// What all ranks say that were heard of, together.
struct Everything {
  int ranks = 0;  // in the job
  const std::vector<Part>& parts;
  Summary sum;
};

void write_text(std::FILE* file, const Everything& all);
void write_json(std::FILE* file, const Everything& all);
void write_trace(std::FILE* file, const Everything& all);

// Writes everything that the environment asks for. `suffix` goes before the ending of each file's
// name. If something can't be written, that is said on standard error.
void write_all(const std::vector<Part>& parts, int ranks, const Settings& settings,
               const std::string& suffix);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_OUTPUT_H_
