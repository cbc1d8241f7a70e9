// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The binary interface that this build of the interposer is for: what handles and constants are,
// and where MPI's functions are found. Each interface has a facts.h in a folder of its own. What
// MPIs behind the same interface do differently is in behaviour.h, and is found out at run time.

#ifndef ATTRCACHE_MPI_NATIVE_FACTS_H_
#define ATTRCACHE_MPI_NATIVE_FACTS_H_

#include <cstdint>
#include <type_traits>

#if defined(ATTRCACHE_OPENMPI)
#include "mpi/native/openmpi/facts.h"
#elif defined(ATTRCACHE_MPICH)
#include "mpi/native/mpich/facts.h"
#elif defined(ATTRCACHE_MPI_ABI)
#include "mpi/native/mpi_abi/facts.h"
#else
#error "attrcache: define ATTRCACHE_OPENMPI, ATTRCACHE_MPICH or ATTRCACHE_MPI_ABI"
#endif

namespace attrcache::mpi::facts {

// Whether there are Fortran functions that attrcache overrides.
inline constexpr bool kFortran = !kStandardAbi;
// What messages append to the name of the MPI.
inline constexpr const char* kSuffix = kStandardAbi ? " (standard ABI)" : "";
// Whether a program may give null pointers for callbacks: where constants are such.
inline constexpr bool kNullCallbacks = kConstants[0][0] == nullptr;

// Whether MPI_Session_init and MPI_Session_finalize are overridden (entries/init.cc), and sessions
// are counted there. Where they aren't, MPI's own count of sessions is read.
inline constexpr bool kSeesSessions = kSessionCount == nullptr;

#ifndef ATTRCACHE_OPENMPI
// Predefined handles are constants.
template <typename Predefined, typename Find>
void find_predefined(Predefined& p, Find) {
  p.world = MPI_COMM_WORLD;
  p.self = MPI_COMM_SELF;
#define ATTRCACHE_KIND(kind, word, Comm, comm, COMM, Handle, handle, HANDLE, ...) \
  p.null_##comm = MPI_##HANDLE##_NULL;
#include "mpi/native/kinds.def"
}
#endif

// How many predefined keyvals each kind has. No MPI has any of datatypes.
inline constexpr unsigned kPredefinedComm = 7;
inline constexpr unsigned kPredefinedWin = 5;
inline constexpr unsigned kPredefinedType = 0;
inline unsigned type_keyval_index(int) { return 0; }

// A handle, which is a pointer or an int, as the core takes it and gives it back; and as a key of
// the handle map.
template <typename Handle>
void* to_object(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return handle;
  } else {
    return reinterpret_cast<void*>(static_cast<intptr_t>(handle));
  }
}
template <typename Handle>
uintptr_t to_key(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<uintptr_t>(handle);
  } else {
    return static_cast<uint32_t>(handle);
  }
}
template <typename Handle>
Handle from_key(uintptr_t key) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(key);
  } else {
    return static_cast<Handle>(key);
  }
}
template <typename Handle>
Handle from_object(void* object) {
  return from_key<Handle>(reinterpret_cast<uintptr_t>(object));
}

}  // namespace attrcache::mpi::facts

#endif  // ATTRCACHE_MPI_NATIVE_FACTS_H_
