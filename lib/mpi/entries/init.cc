// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI_Init and MPI_Init_thread, overridden for three reasons. Every process in which the library can
// serve tells the launcher so (handover/), even if it never uses an attribute; one that says nothing
// is out of reach. With ATTRCACHE_VERBOSE=1 it tells the user. And in the library with the report,
// every rank must take part in it.
//
// The Fortran and C++ interfaces of both MPIs, and tools that wrap these functions, end up in the
// MPI_ or the PMPI_ names, so both are overridden. (MPI itself calls neither.) Each passes the call
// on to MPI's function of the same name, which may be that of such a tool. It does no harm if both
// see the same call.

#include "mpi/entries/init.h"

#include "mpi/entries/behind.h"
#include "mpi/handover/handover.h"
#include "mpi/native/entry.h"
#include "mpi/native/native.h"
#include "mpi/objects/process.h"
#include "mpi/recording/probe.h"
#include "mpi/serving/begin.h"

namespace attrcache::mpi {

int after_init(const LifetimeCall& call, int code) {
  if (code != MPI_SUCCESS) return code;
  call.began();
  introduce(refusal());
  const Process* state;
  if ((probe::kWatches || wants_words()) && begin(&state) == MPI_SUCCESS) probe::begun(*state);
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

}  // extern "C"
