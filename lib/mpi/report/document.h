// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a rank hands over: all that it has counted, as one JSON document. tools/report makes reports
// of the documents of all ranks; ../README.md describes the members.

#ifndef ATTRCACHE_MPI_REPORT_DOCUMENT_H_
#define ATTRCACHE_MPI_REPORT_DOCUMENT_H_

#include <cstdint>
#include <string>

namespace attrcache::mpi::report {

struct Facts {
  int rank;              // in MPI_COMM_WORLD
  int ranks;             // in it
  uint64_t nanoseconds;  // since the report began
  bool finalized;        // MPI_Finalize has been called
  bool partial;          // more might have followed: the process was ended from outside, or aborted
};

// Any thread may call it, also while others use attributes; what they do meanwhile may be in it or
// not. MPI is asked for names of objects only if `finalized`.
std::string document(const Facts& facts);

// Keeps the facts where they outlive the process (handover/kept.h).
void keep_head(const Facts& facts);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_DOCUMENT_H_
