// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Memory that outlives the process: a file, mapped, in the folder where the report's data go. It is
// valid at any time, so a process that is killed loses nothing. A child of fork has a copy of its
// own, which is lost. tools/report/left.py reads it.
//
// The file is a sequence of blocks, each a head of 64 bytes, whose first two words are the block's
// type and size, and that many bytes, padded to a multiple of 64.

#ifndef ATTRCACHE_MPI_HANDOVER_KEPT_H_
#define ATTRCACHE_MPI_HANDOVER_KEPT_H_

#include <cstddef>
#include <cstdint>

namespace attrcache::mpi::kept {

// What a block is.
enum class What : uint64_t {
  kProcess = 'P',   // the beginning of a document (report/document.h); the last one counts
  kMaker = 'M',     // a Maker (recording/maker.h)
  kSighting = 'S',  // a place of misuse (watching/misuse.cc)
  kTrace = 'T',     // the events of the trace (recording/trace.cc)
};

// A new block's bytes, which are zero, aligned to 64. Null if there is no such file: no report is
// wanted, its folder isn't seen here, or it has no room. Takes a lock.
void* take(What what, size_t size);

// Where the file is mapped; null if there is none.
const void* base();

// Removes the file, because its process has handed over all that is in it.
void remove();

}  // namespace attrcache::mpi::kept

#endif  // ATTRCACHE_MPI_HANDOVER_KEPT_H_
