// SPDX-License-Identifier: Apache-2.0
//
// Who calls MPI_*_create_keyval. MPICH's C++ and Fortran bindings go through the C name and then
// patch the keyval that they got (MPII_Keyval_set_proxy); others don't use it (facts.h,
// kBindingsCallC).

#ifndef ATTRCACHE_MPI_ENTRIES_BINDING_H_
#define ATTRCACHE_MPI_ENTRIES_BINDING_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "mpi/watching/probe.h"
#include "platform/atomic.h"

namespace attrcache::mpi {

struct Served;

enum class Binding { kC, kCxx, kFortran };

// Callers found to be plain C, by a hash of the return address. Relaxed: each word stands for
// itself.
[[gnu::visibility("hidden")]] extern constinit Atomic<uintptr_t> plain_callers[64];
inline Atomic<uintptr_t>& plain_caller(uintptr_t caller) {
  return plain_callers[caller * uint64_t{0x9e3779b97f4a7c15} >> 58];
}

// By the return address of the call, where it has to be looked at: who it is.
Binding look_for_binding(const void* return_address);

// A keyval of ours for the C++ binding, which will name its proxies in a moment.
int create_keyval_for_cxx(const Served& state, int kind, attrcache_callback* copy_fn,
                          attrcache_callback* delete_fn, void* extra_state, int* keyval,
                          probe::Source source);

// What is to be passed around of the return address: nothing, where nobody looks at it. A report
// names it.
constexpr const void* asked_by_binding(const void* return_address) {
  return facts::kBindingsCallC || probe::kWatches ? return_address : nullptr;
}

// Whether the call is known to come from C, which it isn't on the first call from each place.
inline bool known_as_c(const void* return_address) {
  if constexpr (facts::kBindingsCallC) {
    const auto caller = reinterpret_cast<uintptr_t>(return_address);
    return plain_caller(caller).load(kRelaxed) == caller;
  } else {
    return true;
  }
}
inline Binding find_binding(const void* return_address) {
  if constexpr (facts::kBindingsCallC) {
    return look_for_binding(return_address);
  } else {
    return Binding::kC;
  }
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_BINDING_H_
