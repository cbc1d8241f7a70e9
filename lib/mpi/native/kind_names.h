// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The names of the kinds of objects. This header needs nothing of MPI, so that the parts of the
// report that know nothing of MPI can use it.

#ifndef ATTRCACHE_MPI_NATIVE_KIND_NAMES_H_
#define ATTRCACHE_MPI_NATIVE_KIND_NAMES_H_

namespace attrcache::mpi {

struct KindNames {
  const char* word;     // as people call such an object
  const char* c;        // in the names of its functions in C: MPI_Comm_set_attr
  const char* fortran;  // in the names of its functions in Fortran: mpi_comm_set_attr_
};

// By the kind's number (ATTRCACHE_COMMUNICATOR and the others).
inline constexpr KindNames kKindNames[] = {
    {"communicator", "Comm", "comm"},
    {"datatype", "Type", "type"},
    {"window", "Win", "win"},
};
inline constexpr int kMpiKinds = sizeof kKindNames / sizeof *kKindNames;

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_KIND_NAMES_H_
