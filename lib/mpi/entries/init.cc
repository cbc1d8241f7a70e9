// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI_Init and MPI_Init_thread, overridden for three reasons, and MPI_Abort, for the report. Every
// process in which the library can serve tells the launcher so, even if it never uses an attribute;
// one that says nothing is out of reach. With ATTRCACHE_VERBOSE=1 it tells the user. And a rank
// that never uses an attribute is in the report, too.
//
// The Fortran and C++ interfaces of both MPIs, and tools that wrap these functions, end up in the
// MPI_ or the PMPI_ names, so both are overridden. (MPI itself calls neither.) Each passes the call
// on to MPI's function of the same name, which may be that of such a tool. It does no harm if both
// see the same call.

#include "mpi/entries/init.h"

#include "mpi/entries/behind.h"
#include "mpi/native/entry.h"
#include "mpi/native/native.h"
#include "mpi/objects/process.h"
#include "mpi/report/hello.h"
#include "mpi/report/life.h"
#include "mpi/serving/anchor_callbacks.h"
#include "mpi/serving/begin.h"

namespace attrcache::mpi {

int after_init(const LifetimeCall& call, int code) {
  if (code != MPI_SUCCESS) return code;
  call.began();
  introduce(why_not_served());
  const Process* state;
  if ((report::wanted() || wants_words()) && begin(&state) == MPI_SUCCESS)
    report::begin(code_at_finalize);
  return code;
}

}  // namespace attrcache::mpi

using attrcache::mpi::after_init;
using attrcache::mpi::behind;

extern "C" {

#define ATTRCACHE_INIT(prefix)                                                                     \
  ATTRCACHE_ENTRY int prefix##_Init(int* argc, char*** argv) {                                     \
    static const auto next = behind<decltype(PMPI_Init)>(#prefix "_Init");                         \
    const attrcache::mpi::LifetimeCall call;                                                       \
    return after_init(call, next(argc, argv));                                                     \
  }                                                                                                \
  ATTRCACHE_ENTRY int prefix##_Init_thread(int* argc, char*** argv, int required, int* provided) { \
    static const auto next = behind<decltype(PMPI_Init_thread)>(#prefix "_Init_thread");           \
    const attrcache::mpi::LifetimeCall call;                                                       \
    return after_init(call, next(argc, argv, required, provided));                                 \
  }

ATTRCACHE_INIT(MPI)
ATTRCACHE_INIT(PMPI)

// What was counted so far would be lost.
#define ATTRCACHE_ABORT(prefix)                                              \
  ATTRCACHE_ENTRY int prefix##_Abort(MPI_Comm comm, int code) {              \
    static const auto next = behind<decltype(PMPI_Abort)>(#prefix "_Abort"); \
    attrcache::mpi::report::hand_over_so_far();                              \
    return next(comm, code);                                                 \
  }
ATTRCACHE_ABORT(MPI)
ATTRCACHE_ABORT(PMPI)

}  // extern "C"
