// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The binary interface of Open MPI (4.x to 6.x): handles are pointers to objects, and predefined
// objects are data symbols of its library.

#ifndef ATTRCACHE_MPI_NATIVE_OPENMPI_FACTS_H_
#define ATTRCACHE_MPI_NATIVE_OPENMPI_FACTS_H_

#define OMPI_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>

#include "attrcache/attrcache.h"

struct ompi_instance_t;

namespace attrcache::mpi::facts {

inline constexpr const char* kName = "Open MPI";

// The libraries in which PMPI_ names are looked up when the program opened its MPI locally (dlopen
// without RTLD_GLOBAL). Version 6 has its objects in a library of their own, with which its
// libmpi_abi.so is linked, too.
inline constexpr const char* kLibraryPrefixes[] = {"libmpi.so", "libmpi_mpifh", "libmpi_usempif08",
                                                   "libopen_mpi.so", "libmpi_ibm.so"};

// A symbol that this MPI has and the others don't.
inline constexpr const char* kMark = "ompi_mpi_comm_world";
// Whether handles and constants are the standard ABI's. MPI is asked at run time, and must agree.
inline constexpr bool kStandardAbi = false;

// MPI_Session_init is not overridden: version 4 has none, and a program that looks for it must not
// find it in the interposer. This is the variable in which versions with sessions count what keeps
// MPI alive, MPI_Init's part included.
inline constexpr const char* kSessionCount = "ompi_instance_count";

// Whether the bindings of other languages call MPI_*_create_keyval by its name in C.
inline constexpr bool kBindingsCallC = false;

inline constexpr attrcache_handle_form kHandleForm = ATTRCACHE_HANDLE_POINTER;
// MPI_Session, which version 4's mpi.h lacks.
using SessionHandle = ::ompi_instance_t*;

// Predefined handles are the addresses of these symbols. They are looked up, because a preloaded
// library that refers to them couldn't be loaded into a process without MPI. `find` ends the
// process if one is missing.
template <typename Predefined, typename Find>
void find_predefined(Predefined& p, Find find) {
  find(p.world, "ompi_mpi_comm_world");
  find(p.self, "ompi_mpi_comm_self");
#define ATTRCACHE_KIND(kind, word, Comm, comm, COMM, Handle, handle, ...) \
  find(p.null_##comm, "ompi_mpi_" #handle "_null");
#include "mpi/native/kinds.def"
}

// The callback constants in C are functions, per kind: {NULL_COPY, DUP, NULL_DELETE}. The last row
// is MPI-1's.
inline constexpr const char* kConstants[][3] = {
#define ATTRCACHE_KIND(kind, word, Comm, comm, COMM, ...)              \
  {"OMPI_C_MPI_" #COMM "_NULL_COPY_FN", "OMPI_C_MPI_" #COMM "_DUP_FN", \
   "OMPI_C_MPI_" #COMM "_NULL_DELETE_FN"},
#include "mpi/native/kinds.def"
    {"OMPI_C_MPI_NULL_COPY_FN", "OMPI_C_MPI_DUP_FN", "OMPI_C_MPI_NULL_DELETE_FN"},
};
// The address of all DUP functions where that is a constant number, else 0.
inline constexpr uintptr_t kDupAddress = 0;

// The index of a predefined keyval among those of its kind. For any other keyval it is a number
// that is too large to be an index.
inline unsigned comm_keyval_index(int keyval) {
  static_assert(MPI_TAG_UB == 0 && MPI_UNIVERSE_SIZE == 6);
  return static_cast<unsigned>(keyval);
}
inline unsigned win_keyval_index(int keyval) {
  static_assert(MPI_WIN_BASE == 7 && MPI_WIN_MODEL == 11);
  return static_cast<unsigned>(keyval) - MPI_WIN_BASE;
}

inline constexpr int kFortranKeyvalOffset = 0;

// Whether Fortran's functions fail in another way than C's: they call no error handler, or return
// other codes.
inline constexpr bool kFortranRaisesByItself = true;

// Predefined datatypes are variables of a library or (after a copy relocation) of the program.
// Others are allocated, so no file has their address.
inline bool is_predefined_type(uintptr_t key) {
  Dl_info info;
  return dladdr(reinterpret_cast<void*>(key), &info) != 0;
}

}  // namespace attrcache::mpi::facts

#endif  // ATTRCACHE_MPI_NATIVE_OPENMPI_FACTS_H_
