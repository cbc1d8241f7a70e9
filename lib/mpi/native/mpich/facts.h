// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The binary interface of MPICH (4.x, 5.x, and the MPIs that share it): handles are ints. What each
// constant means stands in openmpi/facts.h.

#ifndef ATTRCACHE_MPI_NATIVE_MPICH_FACTS_H_
#define ATTRCACHE_MPI_NATIVE_MPICH_FACTS_H_

#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <bit>
#include <cstdint>

#include "attrcache/attrcache.h"

namespace attrcache::mpi::facts {

inline constexpr const char* kName = "MPICH";

inline constexpr const char* kLibraryPrefixes[] = {"libmpich.so", "libmpi.so", "libmpichfort",
                                                   "libmpifort",
                                                   "libmpi_"};  // Cray's: libmpi_gnu_123.so

inline constexpr const char* kMark = "MPIR_Dup_fn";
inline constexpr bool kStandardAbi = false;

inline constexpr const char* kSessionCount = nullptr;

inline constexpr bool kBindingsCallC = true;

inline constexpr attrcache_handle_form kHandleForm = ATTRCACHE_HANDLE_INT;
// MPI_Session, which a header before MPI-4.0 lacks.
using SessionHandle = int;

// All NULL_* are null pointers.
inline constexpr const char* kConstants[][3] = {
#define ATTRCACHE_KIND(...) {nullptr, "MPIR_Dup_fn", nullptr},
#include "mpi/native/kinds.def"
    {nullptr, "MPIR_Dup_fn", nullptr},
};
inline constexpr uintptr_t kDupAddress = 0;

// The keyvals of C are odd (Fortran's are C's plus one), so half the distance from the first one is
// the index. It is rotated and not shifted so that the lowest bit isn't lost, and an even keyval
// gives a large number.
inline unsigned comm_keyval_index(int keyval) {
  static_assert(MPI_TAG_UB == 0x64400001 && MPI_APPNUM == 0x6440000d);
  return std::rotr(static_cast<unsigned>(keyval) - MPI_TAG_UB, 1);
}
inline unsigned win_keyval_index(int keyval) {
  static_assert(MPI_WIN_BASE == 0x66000001 && MPI_WIN_MODEL == 0x66000009);
  return std::rotr(static_cast<unsigned>(keyval) - MPI_WIN_BASE, 1);
}

// The difference between a predefined keyval in Fortran and the same in C.
inline constexpr int kFortranKeyvalOffset = 1;

inline constexpr bool kFortranRaisesByItself = false;

// Built-in handles, and MPI_FLOAT_INT and the other types of a pair.
inline bool is_predefined_type(uintptr_t key) {
  static_assert(MPI_FLOAT_INT == static_cast<int>(0x8c000000) &&
                MPI_LONG_DOUBLE_INT == static_cast<int>(0x8c000004));
  return key >> 30 == 1 || key - 0x8c000000 <= 4;
}

}  // namespace attrcache::mpi::facts

#endif  // ATTRCACHE_MPI_NATIVE_MPICH_FACTS_H_
