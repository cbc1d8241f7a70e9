// SPDX-License-Identifier: Apache-2.0
//
// Open MPI (4.x to 6.x): handles are pointers to objects; predefined ones are data symbols.

#ifndef ATTRCACHE_MPI_NATIVE_OPENMPI_FACTS_H_
#define ATTRCACHE_MPI_NATIVE_OPENMPI_FACTS_H_

#define OMPI_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>

#include "attrcache/attrcache.h"

namespace attrcache::mpi::facts {

inline constexpr const char* kName = "Open MPI";
// What is said of a process after the name of its MPI.
inline constexpr const char* kSuffix = "";

// Where PMPI_ names are found when the program opened its MPI locally (dlopen without RTLD_GLOBAL).
// Version 6 has its objects in a library of their own, which its libmpi_abi.so is linked with, too.
inline constexpr const char* kLibraryPrefixes[] = {"libmpi.so", "libmpi_mpifh", "libmpi_usempif08",
                                                   "libopen_mpi.so"};

// A symbol that this MPI has and the others don't.
inline constexpr const char* kMark = "ompi_mpi_comm_world";
// Whether handles and constants are the standard ABI's. An MPI says so at run time, and must agree.
inline constexpr bool kStandardAbi = false;

// Whether there are Fortran functions to be served.
inline constexpr bool kFortran = true;
// Whether the bindings of other languages call MPI_*_create_keyval by its name in C.
inline constexpr bool kBindingsCallC = false;

inline constexpr attrcache_handle_form kHandleForm = ATTRCACHE_HANDLE_POINTER;

// Predefined handles are addresses of these; a preloaded library must not refer to them by itself,
// or it couldn't be loaded into a process without MPI. `find` ends the process if one is missing.
template <typename Predefined, typename Find>
void find_predefined(Predefined& p, Find find) {
  find(p.world, "ompi_mpi_comm_world");
  find(p.self, "ompi_mpi_comm_self");
  find(p.null_comm, "ompi_mpi_comm_null");
  find(p.null_type, "ompi_mpi_datatype_null");
  find(p.null_win, "ompi_mpi_win_null");
  find(p.byte, "ompi_mpi_byte");
}

template <typename Handle>
void* to_object(Handle handle) {
  return handle;
}
template <typename Handle>
Handle from_object(void* object) {
  return static_cast<Handle>(object);
}
template <typename Handle>
uintptr_t to_key(Handle handle) {
  return reinterpret_cast<uintptr_t>(handle);
}

// The C callback constants are functions, per kind: {NULL_COPY, DUP, NULL_DELETE}, and MPI-1's.
inline constexpr const char* kConstants[][3] = {
    {"OMPI_C_MPI_COMM_NULL_COPY_FN", "OMPI_C_MPI_COMM_DUP_FN", "OMPI_C_MPI_COMM_NULL_DELETE_FN"},
    {"OMPI_C_MPI_TYPE_NULL_COPY_FN", "OMPI_C_MPI_TYPE_DUP_FN", "OMPI_C_MPI_TYPE_NULL_DELETE_FN"},
    {"OMPI_C_MPI_WIN_NULL_COPY_FN", "OMPI_C_MPI_WIN_DUP_FN", "OMPI_C_MPI_WIN_NULL_DELETE_FN"},
    {"OMPI_C_MPI_NULL_COPY_FN", "OMPI_C_MPI_DUP_FN", "OMPI_C_MPI_NULL_DELETE_FN"},
};
// The address of all DUP functions, where it is a constant.
inline constexpr uintptr_t kDupAddress = 0;
// Whether all the DUP functions are one.
inline constexpr bool kOneDup = false;
// It refuses null pointers for callbacks.
inline constexpr bool kNullCallbacks = false;

// The place of a predefined keyval among its kind's, or a larger number.
inline constexpr unsigned kCommPlaces = 7;
inline constexpr unsigned kWinPlaces = 5;
inline unsigned comm_place(int keyval) {
  static_assert(MPI_TAG_UB == 0 && MPI_UNIVERSE_SIZE == 6);
  return static_cast<unsigned>(keyval);
}
inline unsigned win_place(int keyval) {
  static_assert(MPI_WIN_BASE == 7 && MPI_WIN_MODEL == 11);
  return static_cast<unsigned>(keyval) - MPI_WIN_BASE;
}

inline constexpr int kFortranKeyvalOffset = 0;

// Whether Fortran's functions call no error handler where C's do, or return other codes.
inline constexpr bool kFortranRaisesByItself = true;

// Those are variables of a library or, copied, of the program; others are allocated.
inline bool is_predefined_type(uintptr_t key) {
  Dl_info info;
  return dladdr(reinterpret_cast<void*>(key), &info) != 0;
}

}  // namespace attrcache::mpi::facts

#endif  // ATTRCACHE_MPI_NATIVE_OPENMPI_FACTS_H_
