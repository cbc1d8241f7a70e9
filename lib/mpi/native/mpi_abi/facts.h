// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The standard ABI of MPI-5.0 (libmpi_abi.so.1), whichever MPI is behind it. Handles are pointers,
// and predefined handles are small numbers. The ABI has no Fortran functions. What each constant
// means stands in openmpi/facts.h.

#ifndef ATTRCACHE_MPI_NATIVE_MPI_ABI_FACTS_H_
#define ATTRCACHE_MPI_NATIVE_MPI_ABI_FACTS_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "mpi/native/mpi_abi/abi.h"

namespace attrcache::mpi::facts {

inline constexpr const char* kName = "the standard ABI";

inline constexpr const char* kLibraryPrefixes[] = {"libmpi_abi"};

inline constexpr bool kStandardAbi = true;

inline constexpr const char* kSessionCount = nullptr;

inline constexpr bool kFortranRaisesByItself = false;
inline constexpr bool kBindingsCallC = false;

inline constexpr attrcache_handle_form kHandleForm = ATTRCACHE_HANDLE_POINTER;
using SessionHandle = MPI_Session;

// A symbol that libraries with this interface have. An MPI that was built for its own interface may
// have it, too, so the MPI is also asked at run time (kStandardAbi).
inline constexpr const char* kMark = "PMPI_Abi_get_version";

// The callback constants in C: null pointers, and one address for all DUP functions.
inline constexpr const char* kConstants[][3] = {
#define ATTRCACHE_KIND(...) {nullptr, nullptr, nullptr},
#include "mpi/native/kinds.def"
    {nullptr, nullptr, nullptr},
};
inline constexpr uintptr_t kDupAddress = 1;

inline unsigned comm_keyval_index(int keyval) {
  static_assert(MPI_TAG_UB == 501 && MPI_UNIVERSE_SIZE == 507);
  return static_cast<unsigned>(keyval) - MPI_TAG_UB;
}
inline unsigned win_keyval_index(int keyval) {
  static_assert(MPI_WIN_BASE == 601 && MPI_WIN_MODEL == 605);
  return static_cast<unsigned>(keyval) - MPI_WIN_BASE;
}

inline constexpr int kFortranKeyvalOffset = 0;

// The standard reserves these numbers for predefined handles. They lie in a page where no object
// can be.
inline bool is_predefined_type(uintptr_t key) { return key < 0x1000; }

}  // namespace attrcache::mpi::facts

#endif  // ATTRCACHE_MPI_NATIVE_MPI_ABI_FACTS_H_
