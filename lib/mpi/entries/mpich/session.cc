// SPDX-License-Identifier: Apache-2.0
//
// MPI_Session_init, overridden as MPI_Init is (init.cc). Not in Open MPI, whose version 4 has none: a
// program that looks for it must not find it here.

#include "mpi/entries/entry.h"
#include "mpi/entries/init.h"
#include "mpi/native/native.h"

#if MPI_VERSION >= 4

extern "C" {

ATTRCACHE_ENTRY int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
                                      MPI_Session* session) {
  using attrcache::mpi::behind;
  static const auto next = behind<decltype(PMPI_Session_init)>("PMPI_Session_init");
  return attrcache::mpi::initialized(next(info, errhandler, session));
}
ATTRCACHE_ENTRY int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session)
    __attribute__((alias("PMPI_Session_init")));

}  // extern "C"

#endif
