// SPDX-License-Identifier: Apache-2.0
//
// MPICH (4.x, 5.x, and its ABI kin): handles are ints.

#ifndef ATTRCACHE_MPI_NATIVE_MPICH_FACTS_H_
#define ATTRCACHE_MPI_NATIVE_MPICH_FACTS_H_

#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <bit>
#include <cstdint>

#include "attrcache/attrcache.h"

namespace attrcache::mpi::facts {

inline constexpr const char* kName = "MPICH";
// What is said of a process after the name of its MPI.
inline constexpr const char* kSuffix = "";

// Where PMPI_ names are found when the program opened its MPI locally (dlopen without RTLD_GLOBAL).
inline constexpr const char* kLibraryPrefixes[] = {"libmpich.so", "libmpi.so", "libmpichfort",
                                                   "libmpifort"};

// A symbol that this MPI has and the others don't.
inline constexpr const char* kMark = "MPIR_Dup_fn";
// Whether handles and constants are the standard ABI's. An MPI says so at run time, and must agree.
inline constexpr bool kStandardAbi = false;

// Whether there are Fortran functions to be served.
inline constexpr bool kFortran = true;
// Whether the bindings of other languages call MPI_*_create_keyval by its name in C.
inline constexpr bool kBindingsCallC = true;

inline constexpr attrcache_handle_form kHandleForm = ATTRCACHE_HANDLE_INT;

template <typename Predefined, typename Find>
void find_predefined(Predefined& p, Find) {
  p.world = MPI_COMM_WORLD;
  p.self = MPI_COMM_SELF;
  p.null_comm = MPI_COMM_NULL;
  p.null_type = MPI_DATATYPE_NULL;
  p.null_win = MPI_WIN_NULL;
  p.byte = MPI_BYTE;
}

inline void* to_object(int handle) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(handle));
}
template <typename Handle>
Handle from_object(void* object) {
  return static_cast<int>(reinterpret_cast<intptr_t>(object));
}
inline uintptr_t to_key(int handle) { return static_cast<uint32_t>(handle); }

// The C callback constants, per kind: {NULL_COPY, DUP, NULL_DELETE}, and MPI-1's. NULL_* are null
// pointers.
inline constexpr const char* kConstants[][3] = {
    {nullptr, "MPIR_Dup_fn", nullptr},
    {nullptr, "MPIR_Dup_fn", nullptr},
    {nullptr, "MPIR_Dup_fn", nullptr},
    {nullptr, "MPIR_Dup_fn", nullptr},
};
// The address of all DUP functions, where it is a constant.
inline constexpr uintptr_t kDupAddress = 0;
// Whether all the DUP functions are one.
inline constexpr bool kOneDup = true;
inline constexpr bool kNullCallbacks = true;

// The place of a predefined keyval among its kind's, or a larger number. C's keyvals are odd
// (Fortran's are C's plus one), so half the distance from the first is the place, rotated lest the
// lowest bit be lost.
inline constexpr unsigned kCommPlaces = 7;
inline constexpr unsigned kWinPlaces = 5;
inline unsigned comm_place(int keyval) {
  static_assert(MPI_TAG_UB == 0x64400001 && MPI_APPNUM == 0x6440000d);
  return std::rotr(static_cast<unsigned>(keyval) - MPI_TAG_UB, 1);
}
inline unsigned win_place(int keyval) {
  static_assert(MPI_WIN_BASE == 0x66000001 && MPI_WIN_MODEL == 0x66000009);
  return std::rotr(static_cast<unsigned>(keyval) - MPI_WIN_BASE, 1);
}

// What Fortran adds to a predefined keyval of C.
inline constexpr int kFortranKeyvalOffset = 1;

// Whether Fortran's functions call no error handler where C's do, or return other codes.
inline constexpr bool kFortranRaisesByItself = false;

// Built-in handles, and MPI_FLOAT_INT and its kin.
inline bool is_predefined_type(uintptr_t key) {
  static_assert(MPI_FLOAT_INT == static_cast<int>(0x8c000000) &&
                MPI_LONG_DOUBLE_INT == static_cast<int>(0x8c000004));
  return key >> 30 == 1 || key - 0x8c000000 <= 4;
}

}  // namespace attrcache::mpi::facts

#endif  // ATTRCACHE_MPI_NATIVE_MPICH_FACTS_H_
