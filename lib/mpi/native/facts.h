// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The binary interface that this build of the interposer is for: what handles and constants are,
// and where MPI's functions are found. Each interface has a facts.h in a folder of its own. What
// MPIs behind the same interface do differently is in behaviour.h, and is found out at run time.

#ifndef ATTRCACHE_MPI_NATIVE_FACTS_H_
#define ATTRCACHE_MPI_NATIVE_FACTS_H_

#if defined(ATTRCACHE_OPENMPI)
#include "mpi/native/openmpi/facts.h"
#elif defined(ATTRCACHE_MPICH)
#include "mpi/native/mpich/facts.h"
#elif defined(ATTRCACHE_MPI_ABI)
#include "mpi/native/mpi_abi/facts.h"
#else
#error "attrcache: define ATTRCACHE_OPENMPI, ATTRCACHE_MPICH or ATTRCACHE_MPI_ABI"
#endif

namespace attrcache::mpi::facts {

// Whether MPI_Session_init and MPI_Session_finalize are overridden. Where they aren't, MPI's own count
// of sessions is read.
inline constexpr bool kSeesSessions = kSessionCount == nullptr;

// No MPI has predefined keyvals of datatypes.
inline constexpr unsigned kPredefinedType = 0;
inline unsigned type_keyval_index(int) { return 0; }

}  // namespace attrcache::mpi::facts

#endif  // ATTRCACHE_MPI_NATIVE_FACTS_H_
