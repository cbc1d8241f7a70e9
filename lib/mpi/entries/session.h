// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI_Session_init, overridden for the same reasons as MPI_Init (init.cc), and
// MPI_Session_finalize, because the session's attributes end there (serving/unanchored.h), and
// because after the last session MPI may begin anew (serving/lifetime.h).
// Only the session.cc of an interface that has them in every version includes this. Open MPI's
// doesn't: version 4 lacks them, and a program that looks for them must not find them here.

#ifndef ATTRCACHE_MPI_ENTRIES_SESSION_H_
#define ATTRCACHE_MPI_ENTRIES_SESSION_H_

#include "mpi/entries/init.h"
#include "mpi/native/entry.h"
#include "mpi/native/native.h"
#include "mpi/serving/unanchored.h"

extern "C" {

#define ATTRCACHE_SESSION(prefix)                                                                  \
  ATTRCACHE_ENTRY int prefix##_Session_init(MPI_Info info, MPI_Errhandler errhandler,              \
                                            MPI_Session* session) {                                \
    using attrcache::mpi::behind;                                                                  \
    static const auto next = behind<decltype(PMPI_Session_init)>(#prefix "_Session_init");         \
    const attrcache::mpi::LifetimeCall call(attrcache::mpi::Part::kSession);                       \
    return attrcache::mpi::after_init(call, next(info, errhandler, session));                      \
  }                                                                                                \
  ATTRCACHE_ENTRY int prefix##_Session_finalize(MPI_Session* session) {                            \
    using attrcache::mpi::behind;                                                                  \
    static const auto next = behind<decltype(PMPI_Session_finalize)>(#prefix "_Session_finalize"); \
    const int ended = attrcache::mpi::end_unanchored<attrcache::mpi::Session>(session);            \
    const attrcache::mpi::LifetimeCall call(attrcache::mpi::Part::kSession);                       \
    const int code = next(session);                                                                \
    if (code == MPI_SUCCESS) call.ended();                                                         \
    return ended != MPI_SUCCESS ? ended : code;                                                    \
  }

ATTRCACHE_SESSION(MPI)
ATTRCACHE_SESSION(PMPI)

}  // extern "C"

#endif  // ATTRCACHE_MPI_ENTRIES_SESSION_H_
