// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Finds out which language binding calls MPI_*_create_keyval. MPICH's C++ and Fortran bindings call
// the C function and then patch the keyval that they got (MPII_Keyval_set_proxy), so their calls
// must be distinguished from those in plain C. The bindings of other MPIs don't call it
// (kBindingsCallC in facts.h).

#ifndef ATTRCACHE_MPI_ENTRIES_BINDING_H_
#define ATTRCACHE_MPI_ENTRIES_BINDING_H_

#include "attrcache/attrcache.h"
#include "mpi/native/facts.h"
#include "mpi/recording/maker.h"

namespace attrcache::mpi {

struct Process;

enum class Binding { kC, kCxx, kFortran };

// Finds out which binding made the call, by the library that its return address is in. Slow for the
// first call from each place.
Binding look_for_binding(const void* return_address);

// Makes a keyval of attrcache's for the C++ binding, which will set its proxies right after.
// Returns a result of attrcache's.
int create_keyval_for_cxx(const Process& state, int kind, attrcache_callback* copy_fn,
                          attrcache_callback* delete_fn, void* extra_state, int* keyval,
                          const void* caller);

inline Binding find_binding(const void* return_address) {
  if constexpr (facts::kBindingsCallC) {
    return look_for_binding(return_address);
  } else {
    return Binding::kC;
  }
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_BINDING_H_
