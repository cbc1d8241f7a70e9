// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// File and line of code, in files with debug information, by addr2line (of binutils).

#ifndef ATTRCACHE_MPI_NATIVE_SOURCE_LINE_H_
#define ATTRCACHE_MPI_NATIVE_SOURCE_LINE_H_

#include <string>

#include "mpi/native/origin.h"

namespace attrcache::mpi {

// "solver.c:120", or empty if that isn't known. Runs addr2line, for ten seconds at most. The program
// sees nothing of that process: it gets no SIGCHLD, and its own waits don't find it.
std::string source_line(const Origin& origin);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_SOURCE_LINE_H_
