// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Marks a function that the interposer exports. Everything else is hidden by exports.map,
// attrcache's own C API included, so that a program may bring an attrcache of its own.

#ifndef ATTRCACHE_MPI_NATIVE_ENTRY_H_
#define ATTRCACHE_MPI_NATIVE_ENTRY_H_

#include "mpi/native/native.h"

#define ATTRCACHE_ENTRY __attribute__((visibility("default")))

// Defines MPI_`name` and PMPI_`name`. The Fortran and C++ interfaces of both MPIs, and tools that
// wrap these functions, end up in the MPI_ or the PMPI_ names, so both are overridden. (MPI itself
// calls neither.) The body passes the call on by `next`: MPI's function of the same name, which may
// be that of such a tool. It does no harm if both see the same call.
#define ATTRCACHE_OVERRIDE(name, parameters, ...)             \
  ATTRCACHE_OVERRIDE_ONE(MPI_##name, parameters, __VA_ARGS__) \
  ATTRCACHE_OVERRIDE_ONE(PMPI_##name, parameters, __VA_ARGS__)
#define ATTRCACHE_OVERRIDE_ONE(name, parameters, ...)                                   \
  ATTRCACHE_ENTRY int name parameters {                                                 \
    static int(*const next) parameters = attrcache::mpi::behind<int parameters>(#name); \
    __VA_ARGS__                                                                         \
  }

#endif  // ATTRCACHE_MPI_NATIVE_ENTRY_H_
