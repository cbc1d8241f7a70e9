// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the overridden functions that initialize MPI have in common (init.cc, session.cc).

#ifndef ATTRCACHE_MPI_ENTRIES_INIT_H_
#define ATTRCACHE_MPI_ENTRIES_INIT_H_

#include "mpi/serving/lifetime.h"

namespace attrcache::mpi {

// Call this when MPI's function has returned `code`, which it returns in turn. If a report or
// ATTRCACHE_VERBOSE wants to know of the process from its beginning on, serving begins now instead
// of with the first keyval.
int after_init(const LifetimeCall& call, int code);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_INIT_H_
