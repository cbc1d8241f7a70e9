// SPDX-License-Identifier: Apache-2.0
//
// Open MPI (4.x): handles are pointers to objects; predefined ones are data symbols.

#ifndef ATTRCACHE_MPI_NATIVE_OPENMPI_FACTS_H_
#define ATTRCACHE_MPI_NATIVE_OPENMPI_FACTS_H_

#define OMPI_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>

#include "attrcache/attrcache.h"

namespace attrcache::mpi::facts {

inline constexpr const char* kName = "Open MPI";

// Where PMPI_ names are found when the program opened its MPI locally (dlopen without RTLD_GLOBAL).
inline constexpr const char* kLibraryPrefixes[] = {"libmpi.so", "libopen_mpi.so", "libmpi_mpifh",
                                                   "libmpi_usempif08"};

// A symbol that this MPI has and the others don't.
inline constexpr const char* kMark = "ompi_mpi_comm_world";

inline constexpr attrcache_handle_form kHandleForm = ATTRCACHE_HANDLE_POINTER;

// Predefined handles are addresses of these; a preloaded library must not refer to them by itself,
// or it couldn't be loaded into a process without MPI.
inline constexpr const char* kWorld = "ompi_mpi_comm_world";
inline constexpr const char* kSelf = "ompi_mpi_comm_self";
inline constexpr const char* kNull[] = {"ompi_mpi_comm_null", "ompi_mpi_datatype_null",
                                        "ompi_mpi_win_null"};

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
// Whether all the DUP functions are one.
inline constexpr bool kOneDup = false;
// It refuses null pointers for callbacks.
inline constexpr bool kNullCallbacks = false;

// MPI_Comm_free; MPI_Type_free and MPI_Win_free forget what delete callbacks say.
inline constexpr FreeMode kFreeModes[] = {FreeMode::kStop, FreeMode::kDrain, FreeMode::kDrain};

// Whether MPI_Finalize succeeds where a delete callback of MPI_COMM_SELF fails.
inline constexpr bool kFinalizeForgets = true;

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

// Whether MPI_Finalize deletes the attributes of predefined datatypes.
inline constexpr bool kFinalizeDeletesOnTypes = false;

// Those are variables of a library or, copied, of the program; others are allocated.
inline bool is_predefined_type(uintptr_t key) {
  Dl_info info;
  return dladdr(reinterpret_cast<void*>(key), &info) != 0;
}

}  // namespace attrcache::mpi::facts

#endif  // ATTRCACHE_MPI_NATIVE_OPENMPI_FACTS_H_
