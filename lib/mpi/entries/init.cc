// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions that begin MPI, and some that end it.
//
// MPI_Init, MPI_Init_thread and MPI_Session_init are overridden for four reasons. Every process
// that the library can serve tells the launcher so, even if it never uses an attribute (one that
// tells nothing is out of reach); with ATTRCACHE_VERBOSE=1 it tells the user; a rank that never
// uses an attribute is in the report, too; and after the last session MPI may begin anew
// (serving/lifetime.h). MPI_Session_finalize is overridden because of that, and because the
// session's attributes end there (serving/unanchored.h), MPI_Abort for the report, and
// MPI_Comm_spawn so that the launcher knows how many processes there are.

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
#include "mpi/serving/lifetime.h"
#include "mpi/serving/unanchored.h"
#include "platform/atomic.h"

namespace attrcache::mpi {
namespace {

// Call this when MPI's function has returned `code`, which it returns in turn. If a report or
// ATTRCACHE_VERBOSE wants to know of the process from its beginning on, serving begins now instead
// of with the first keyval.
int after_init(const LifetimeCall& call, int code) {
  if (code != MPI_SUCCESS) return code;
  call.began();
  introduce(why_not_served(), left_to_mpi);
  const Process* state;
  if ((report::wanted() || is_wanted("ATTRCACHE_VERBOSE")) && begin(&state) == MPI_SUCCESS)
    report::begin(code_at_finalize);
  return code;
}

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

using namespace attrcache::mpi;

extern "C" {

ATTRCACHE_OVERRIDE(Init, (int* argc, char*** argv), {
  const LifetimeCall call(Part::kWorld);
  return after_init(call, next(argc, argv));
})

ATTRCACHE_OVERRIDE(Init_thread, (int* argc, char*** argv, int required, int* provided), {
  const LifetimeCall call(Part::kWorld);
  return after_init(call, next(argc, argv, required, provided));
})

// Headers before MPI-4.0, of MPIs that share MPICH's interface, have no sessions.
#if !defined(ATTRCACHE_MPICH) || MPI_VERSION >= 4

ATTRCACHE_OVERRIDE(Session_finalize, (facts::SessionHandle * session), {
  const int ended = end_unanchored<Session>(session);
  const LifetimeCall call(Part::kSession);
  const int code = next(session);
  if (code == MPI_SUCCESS) call.ended();
  return ended != MPI_SUCCESS ? ended : code;
})

// Not Open MPI's: version 4 has no sessions, which programs find out by looking for this function.
#ifndef ATTRCACHE_OPENMPI
ATTRCACHE_OVERRIDE(Session_init, (MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session), {
  const LifetimeCall call(Part::kSession);
  return after_init(call, next(info, errhandler, session));
})
#endif

#endif

// Otherwise what was counted so far would be lost.
ATTRCACHE_OVERRIDE(Abort, (MPI_Comm comm, int code), {
  report::hand_over_at_abort();
  return next(comm, code);
})

ATTRCACHE_OVERRIDE(Comm_spawn,
                   (const char* command, char** argv, int most, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm* spawned, int* codes),
                   {
                     return spawn(root, comm, spawned, [&] {
                       return next(command, argv, most, info, root, comm, spawned, codes);
                     });
                   })

ATTRCACHE_OVERRIDE(Comm_spawn_multiple,
                   (int count, char** commands, char*** argvs, const int* most,
                    const MPI_Info* infos, int root, MPI_Comm comm, MPI_Comm* spawned, int* codes),
                   {
                     return spawn(root, comm, spawned, [&] {
                       return next(count, commands, argvs, most, infos, root, comm, spawned, codes);
                     });
                   })

}  // extern "C"
