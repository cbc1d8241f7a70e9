// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI_Session_finalize, because the session's attributes end there (serving/unanchored.h), and
// after the last session MPI may begin anew (serving/lifetime.h). Version 4 has no such function,
// but no MPI_Session_init either, by which programs find out whether there are sessions.

#include "mpi/native/entry.h"
#include "mpi/native/native.h"
#include "mpi/serving/lifetime.h"
#include "mpi/serving/unanchored.h"

extern "C" {

#define ATTRCACHE_SESSION(prefix)                                                         \
  ATTRCACHE_ENTRY int prefix##_Session_finalize(ompi_instance_t** session) {              \
    using namespace attrcache::mpi;                                                       \
    static const auto next = behind<int(ompi_instance_t**)>(#prefix "_Session_finalize"); \
    const int ended = end_unanchored<Session>(session);                                   \
    const LifetimeCall call(Part::kSession);                                              \
    const int code = next(session);                                                       \
    if (code == MPI_SUCCESS) call.ended();                                                \
    return ended != MPI_SUCCESS ? ended : code;                                           \
  }

ATTRCACHE_SESSION(MPI)
ATTRCACHE_SESSION(PMPI)

}  // extern "C"
