// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI_Session_finalize, overridden because the session's attributes end there
// (serving/unanchored.h), and because after the last session MPI may begin anew
// (serving/lifetime.h); and MPI_Session_init, for the same reasons as MPI_Init (init.cc).

#include "mpi/entries/init.h"
#include "mpi/native/entry.h"
#include "mpi/native/native.h"
#include "mpi/serving/unanchored.h"

// Headers before MPI-4.0, of MPIs that share MPICH's interface, have no sessions.
#if !defined(ATTRCACHE_MPICH) || MPI_VERSION >= 4

using namespace attrcache::mpi;

extern "C" {

#define ATTRCACHE_END_SESSION(name)                                     \
  ATTRCACHE_ENTRY int name(facts::SessionHandle* session) {             \
    static const auto next = behind<int(facts::SessionHandle*)>(#name); \
    const int ended = end_unanchored<Session>(session);                 \
    const LifetimeCall call(Part::kSession);                            \
    const int code = next(session);                                     \
    if (code == MPI_SUCCESS) call.ended();                              \
    return ended != MPI_SUCCESS ? ended : code;                         \
  }
ATTRCACHE_END_SESSION(MPI_Session_finalize)
ATTRCACHE_END_SESSION(PMPI_Session_finalize)

// Not Open MPI's: version 4 has no sessions, which programs find out by looking for this function.
#ifndef ATTRCACHE_OPENMPI
#define ATTRCACHE_BEGIN_SESSION(name)                                                        \
  ATTRCACHE_ENTRY int name(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) { \
    static const auto next = behind<decltype(PMPI_Session_init)>(#name);                     \
    const LifetimeCall call(Part::kSession);                                                 \
    return after_init(call, next(info, errhandler, session));                                \
  }
ATTRCACHE_BEGIN_SESSION(MPI_Session_init)
ATTRCACHE_BEGIN_SESSION(PMPI_Session_init)
#endif

}  // extern "C"

#endif
