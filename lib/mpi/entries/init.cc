// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI_Init and MPI_Init_thread are overridden for three reasons. Every process that the library can
// serve tells the launcher so, even if it never uses an attribute (one that tells nothing is out of
// reach); with ATTRCACHE_VERBOSE=1 it tells the user; and a rank that never uses an attribute is in
// the report, too. MPI_Abort is overridden for the report, and MPI_Comm_spawn so that the launcher
// knows how many processes there are.
//
// The Fortran and C++ interfaces of both MPIs, and tools that wrap these functions, end up in the
// MPI_ or the PMPI_ names, so both are overridden. (MPI itself calls neither.) Each passes the call
// on to MPI's function of the same name, which may be that of such a tool. It does no harm if both
// see the same call.

#include "mpi/entries/init.h"

#include <cstdio>

#include "mpi/native/entry.h"
#include "mpi/native/native.h"
#include "mpi/native/stack_place.h"
#include "mpi/objects/process.h"
#include "mpi/recording/made.h"
#include "mpi/report/hello.h"
#include "mpi/report/life.h"
#include "mpi/serving/anchor_callbacks.h"
#include "mpi/serving/begin.h"
#include "platform/atomic.h"

namespace attrcache::mpi {

int after_init(const LifetimeCall& call, int code) {
  if (code != MPI_SUCCESS) return code;
  call.began();
  introduce(why_not_served(), left_to_mpi);
  const Process* state;
  if ((report::wanted() || is_wanted("ATTRCACHE_VERBOSE")) && begin(&state) == MPI_SUCCESS)
    report::begin(code_at_finalize);
  return code;
}

namespace {

constinit thread_local StackPlace spawning;  // also where a tool passes MPI_'s call on to PMPI_'s
constinit Atomic<int> spawned_so_far{0};

// Calls MPI's function; the root tells the launcher how many processes it has started so far.
template <typename Spawn>
int spawn(int root, MPI_Comm comm, const MPI_Comm* spawned, Spawn&& next) {
  const NestedCall call(spawning);
  const int code = next();
  if (call.is_outermost() && code == MPI_SUCCESS && counting())
    report::object_made(kCommunicator, facts::to_key(*spawned));
  int (*rank)(MPI_Comm, int*);
  int (*remote_size)(MPI_Comm, int*);
  resolve(rank, "PMPI_Comm_rank");
  resolve(remote_size, "PMPI_Comm_remote_size");
  int mine, size;
  if (!call.is_outermost() || code != MPI_SUCCESS || rank(comm, &mine) != MPI_SUCCESS ||
      mine != root || remote_size(*spawned, &size) != MPI_SUCCESS)
    return code;
  char text[16];
  const int length =
      std::snprintf(text, sizeof text, "%d", spawned_so_far.fetch_add(size, kRelaxed) + size);
  tell_launcher("spawned", text, static_cast<size_t>(length));
  return code;
}

}  // namespace
}  // namespace attrcache::mpi

using attrcache::mpi::after_init;
using attrcache::mpi::behind;

extern "C" {

#define ATTRCACHE_INIT(prefix)                                                                     \
  ATTRCACHE_ENTRY int prefix##_Init(int* argc, char*** argv) {                                     \
    static const auto next = behind<decltype(PMPI_Init)>(#prefix "_Init");                         \
    const attrcache::mpi::LifetimeCall call(attrcache::mpi::Part::kWorld);                         \
    return after_init(call, next(argc, argv));                                                     \
  }                                                                                                \
  ATTRCACHE_ENTRY int prefix##_Init_thread(int* argc, char*** argv, int required, int* provided) { \
    static const auto next = behind<decltype(PMPI_Init_thread)>(#prefix "_Init_thread");           \
    const attrcache::mpi::LifetimeCall call(attrcache::mpi::Part::kWorld);                         \
    return after_init(call, next(argc, argv, required, provided));                                 \
  }

ATTRCACHE_INIT(MPI)
ATTRCACHE_INIT(PMPI)

// Otherwise what was counted so far would be lost.
#define ATTRCACHE_ABORT(prefix)                                              \
  ATTRCACHE_ENTRY int prefix##_Abort(MPI_Comm comm, int code) {              \
    static const auto next = behind<decltype(PMPI_Abort)>(#prefix "_Abort"); \
    attrcache::mpi::report::hand_over_at_abort();                            \
    return next(comm, code);                                                 \
  }
ATTRCACHE_ABORT(MPI)
ATTRCACHE_ABORT(PMPI)

#define ATTRCACHE_SPAWN(prefix)                                                                    \
  ATTRCACHE_ENTRY int prefix##_Comm_spawn(const char* command, char** argv, int most,              \
                                          MPI_Info info, int root, MPI_Comm comm,                  \
                                          MPI_Comm* spawned, int* codes) {                         \
    static const auto next = behind<decltype(prefix##_Comm_spawn)>(#prefix "_Comm_spawn");         \
    return attrcache::mpi::spawn(root, comm, spawned, [&] {                                        \
      return next(command, argv, most, info, root, comm, spawned, codes);                          \
    });                                                                                            \
  }                                                                                                \
  ATTRCACHE_ENTRY int prefix##_Comm_spawn_multiple(                                                \
      int count, char** commands, char*** argvs, const int* most, const MPI_Info* infos, int root, \
      MPI_Comm comm, MPI_Comm* spawned, int* codes) {                                              \
    static const auto next =                                                                       \
        behind<decltype(prefix##_Comm_spawn_multiple)>(#prefix "_Comm_spawn_multiple");            \
    return attrcache::mpi::spawn(root, comm, spawned, [&] {                                        \
      return next(count, commands, argvs, most, infos, root, comm, spawned, codes);                \
    });                                                                                            \
  }
ATTRCACHE_SPAWN(MPI)
ATTRCACHE_SPAWN(PMPI)

}  // extern "C"
