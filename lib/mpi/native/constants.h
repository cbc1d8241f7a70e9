// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI's callback constants in C (MPI_COMM_DUP_FN, ...) are functions or null pointers. If they are
// recognized, attrcache's own constants take their place, which cost no call. One that isn't
// recognized is called like any user's function, and has the same effect. For Fortran's,
// runtimes/known_in_fortran.h does the same.

#ifndef ATTRCACHE_MPI_NATIVE_CONSTANTS_H_
#define ATTRCACHE_MPI_NATIVE_CONSTANTS_H_

#include "attrcache/attrcache.h"
#include "mpi/native/native.h"

namespace attrcache::mpi {

struct Callbacks {
  attrcache_callback* copy_fn;
  attrcache_callback* delete_fn;
};

// Replaces the constants of one family, {NULL_COPY, DUP, NULL_DELETE}. A family's entry is null
// where there is no such function. That does no harm: a null pointer is attrcache's constant for
// NULL_COPY and NULL_DELETE anyway, and no user gives it for DUP.
inline void recognize(attrcache_callback* const (&family)[3], Callbacks& c) {
  if (c.copy_fn == family[0]) c.copy_fn = ATTRCACHE_NULL_COPY_FN;
  if (c.copy_fn == family[1] && c.copy_fn != ATTRCACHE_NULL_COPY_FN) c.copy_fn = ATTRCACHE_DUP_FN;
  if (c.delete_fn == family[2]) c.delete_fn = ATTRCACHE_NULL_DELETE_FN;
}

// Recognizes the constants of C for one kind, and for communicators also MPI-1's, which are others
// where constants are functions.
template <int kKind>
inline Callbacks recognize_c(attrcache_callback* copy_fn, attrcache_callback* delete_fn) {
  const Native& n = native();
  Callbacks c = {copy_fn, delete_fn};
  recognize(n.constants[kKind], c);
  if (kKind == ATTRCACHE_COMMUNICATOR && !facts::kNullCallbacks)
    recognize(n.constants[kMpi1Family], c);
  return c;
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_CONSTANTS_H_
