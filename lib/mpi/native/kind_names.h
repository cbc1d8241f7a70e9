// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The numbers and names of the kinds of objects, from their rows in kinds.def. This header needs
// nothing of MPI.

#ifndef ATTRCACHE_MPI_NATIVE_KIND_NAMES_H_
#define ATTRCACHE_MPI_NATIVE_KIND_NAMES_H_

#include "attrcache/attrcache.h"

namespace attrcache::mpi {

enum KindNumber {
#define ATTRCACHE_KIND(kind, ...) k##kind,
#include "mpi/native/kinds.def"
  kMpiKinds,
  // Kinds without attributes in MPI (serving/unanchored.h).
  kSession = kMpiKinds,
  kFile,
  kAllKinds
};
static_assert(kCommunicator == int{ATTRCACHE_COMMUNICATOR} &&
              kDatatype == int{ATTRCACHE_DATATYPE} && kWindow == int{ATTRCACHE_WINDOW});

// The names of a kind.
struct KindNames {
  const char* word;  // as people call such an object
  const char* c;     // in the names of its functions: MPI_Comm_set_attr
};
inline constexpr KindNames kKindNames[] = {
#define ATTRCACHE_KIND(kind, word, Comm, ...) {#word, #Comm},
#include "mpi/native/kinds.def"
    {"session", "Session"},
    {"file", "File"},
};
static_assert(sizeof kKindNames / sizeof *kKindNames == kAllKinds);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_KIND_NAMES_H_
