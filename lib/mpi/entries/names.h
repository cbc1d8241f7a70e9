// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI's own attribute functions in C, grouped by the names that programs call. A call that
// attrcache doesn't answer is passed on to them, and they raise the errors, so that a message names
// the function that the program called. The Fortran functions are in entry_fortran.cc.

#ifndef ATTRCACHE_MPI_ENTRIES_NAMES_H_
#define ATTRCACHE_MPI_ENTRIES_NAMES_H_

#include "mpi/native/native.h"

namespace attrcache::mpi {

// MPI_Comm_set_attr and the others of a kind of object.
template <typename Kind>
struct Typed {
  using InC = Typed;
  static const Calls<Kind>& natively() { return native().of<Kind>(); }
};
// MPI-1's MPI_Attr_put and the others.
struct Mpi1 {
  using InC = Mpi1;
  static const Calls<Communicator>& natively() { return native().mpi1; }
};

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_NAMES_H_
