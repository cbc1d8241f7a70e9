// SPDX-License-Identifier: Apache-2.0
//
// The MPI that this build of the interposer is for. All that differs between MPIs is in one facts.h
// each.

#ifndef ATTRCACHE_MPI_NATIVE_FACTS_H_
#define ATTRCACHE_MPI_NATIVE_FACTS_H_

namespace attrcache::mpi {

// How an MPI takes the failure of a delete callback when it frees an object.
enum class FreeMode {
  kStop,      // stops there and keeps the object: a second free goes on
  kDrain,     // runs all, and the object is gone whatever they said
  kLastCode,  // runs all, and keeps the object, without attributes, if the last one failed
};

}  // namespace attrcache::mpi

#if defined(ATTRCACHE_OPENMPI)
#include "mpi/native/openmpi/facts.h"
#elif defined(ATTRCACHE_MPICH)
#include "mpi/native/mpich/facts.h"
#else
#error "attrcache: define ATTRCACHE_OPENMPI or ATTRCACHE_MPICH"
#endif

#endif  // ATTRCACHE_MPI_NATIVE_FACTS_H_
