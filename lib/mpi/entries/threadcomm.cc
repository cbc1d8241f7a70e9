// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPICH's MPIX_Threadcomm_init and MPIX_Threadcomm_free, so that it is known which communicators
// are threadcomms (objects/anchor.h).

#include "mpi/native/entry.h"
#include "mpi/native/errors.h"
#include "mpi/native/native.h"
#include "mpi/objects/anchor.h"

using namespace attrcache::mpi;

extern "C" {

ATTRCACHE_ENTRY int MPIX_Threadcomm_init(MPI_Comm comm, int threads, MPI_Comm* made) {
  using Init = int(MPI_Comm, int, MPI_Comm*);
  static auto* const next =
      reinterpret_cast<Init*>(find_symbol_in_libraries("MPIX_Threadcomm_init"));
  if (next == nullptr) return raise_on_world(MPI_ERR_OTHER);
  const int code = next(comm, threads, made);
  if (code == MPI_SUCCESS) threadcomms.insert(facts::to_key(*made), &threadcomms);
  return code;
}

ATTRCACHE_ENTRY int MPIX_Threadcomm_free(MPI_Comm* comm) {
  using Free = int(MPI_Comm*);
  static auto* const next =
      reinterpret_cast<Free*>(find_symbol_in_libraries("MPIX_Threadcomm_free"));
  if (next == nullptr) return raise_on_world(MPI_ERR_OTHER);
  const uintptr_t key = comm != nullptr ? facts::to_key(*comm) : 0;
  const int code = next(comm);
  if (code == MPI_SUCCESS) threadcomms.erase(key);
  return code;
}

}  // extern "C"
