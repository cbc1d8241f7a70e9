// SPDX-License-Identifier: Apache-2.0
//
// MPI_Init and MPI_Init_thread, overridden: so that every rank takes part in the report, whether or
// not it ever touches an attribute. The Fortran and C++ faces of both MPIs, and tools that wrap
// these functions, come to the MPI_ or PMPI_ names in the end; so both are here. (MPI itself calls
// neither.) Each goes on to its own name, behind which there may be such a tool; a second call is
// harmless.

#include <dlfcn.h>

#include "mpi/entries/entry.h"
#include "mpi/native/native.h"
#include "mpi/objects/served.h"
#include "mpi/report/life.h"

namespace attrcache::mpi::report {
namespace {

// MPI's own, behind ours.
template <typename Function>
Function* behind(const char* name) {
  void* symbol = dlsym(RTLD_NEXT, name);
  if (symbol == nullptr) symbol = find_symbol_in_libraries(name);
  if (symbol == nullptr) die("the MPI library has no", name);
  return reinterpret_cast<Function*>(symbol);
}

int initialized(int code) {
  const Served* state;
  if (code == MPI_SUCCESS && mpi::begin(&state) == MPI_SUCCESS) begin(*state);
  return code;
}

}  // namespace
}  // namespace attrcache::mpi::report

using attrcache::mpi::report::behind;
using attrcache::mpi::report::initialized;

extern "C" {

#define ATTRCACHE_INIT(prefix)                                                                     \
  ATTRCACHE_ENTRY int prefix##_Init(int* argc, char*** argv) {                                     \
    static const auto next = behind<decltype(PMPI_Init)>(#prefix "_Init");                         \
    return initialized(next(argc, argv));                                                          \
  }                                                                                                \
  ATTRCACHE_ENTRY int prefix##_Init_thread(int* argc, char*** argv, int required, int* provided) { \
    static const auto next = behind<decltype(PMPI_Init_thread)>(#prefix "_Init_thread");           \
    return initialized(next(argc, argv, required, provided));                                      \
  }

ATTRCACHE_INIT(MPI)
ATTRCACHE_INIT(PMPI)

}  // extern "C"
