// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the Fortran entry points have in common: MPI's own Fortran functions for keyvals that aren't
// attrcache's, and the conversion of handles.
//
// A handle of mpi_f08 is a derived type of one INTEGER that is passed by reference, so here it is
// an INTEGER. The functions of mpi_f08 thus differ from mpif.h's only in that the caller may leave
// IERROR out (a null pointer). So whatever MPI has to answer goes to its mpif.h functions.

#ifndef ATTRCACHE_MPI_NATIVE_FORTRAN_H_
#define ATTRCACHE_MPI_NATIVE_FORTRAN_H_

#include "attrcache/attrcache.h"
#include "mpi/native/kinds.h"
#include "mpi/native/native.h"

namespace attrcache::mpi::fortran {

using Callback = attrcache_callback;

// MPI's Fortran functions of one interface: `Value` is the INTEGER of MPI-1 or the
// INTEGER(KIND=MPI_ADDRESS_KIND) of MPI-2.
template <typename Value>
struct Calls {
  void (*create_keyval)(Callback*, Callback*, MPI_Fint*, Value*, MPI_Fint*);
  void (*free_keyval)(MPI_Fint*, MPI_Fint*);
  void (*set_attr)(MPI_Fint*, MPI_Fint*, Value*, MPI_Fint*);
  void (*get_attr)(MPI_Fint*, MPI_Fint*, Value*, MPI_Fint*, MPI_Fint*);
  void (*delete_attr)(MPI_Fint*, MPI_Fint*, MPI_Fint*);
};

struct AllCalls {
  Calls<MPI_Fint> mpi1;
#define ATTRCACHE_KIND(kind, word, Comm, comm, ...) Calls<MPI_Aint> comm;
#include "mpi/native/kinds.def"
};

// Looked up at run time, like native().
const AllCalls& calls();

template <typename Kind>
typename Kind::Handle handle(MPI_Fint fortran) {
  const auto convert = native().of<Kind>().from_fortran;
  if (facts::kHandleForm == ATTRCACHE_HANDLE_POINTER) return convert(fortran);
  return facts::from_object<typename Kind::Handle>(
      reinterpret_cast<void*>(static_cast<intptr_t>(fortran)));
}

template <typename Kind>
MPI_Fint to_fortran(typename Kind::Handle handle) {
  const auto convert = native().of<Kind>().to_fortran;
  if (facts::kHandleForm == ATTRCACHE_HANDLE_POINTER) return convert(handle);
  return static_cast<MPI_Fint>(facts::to_key(handle));
}

}  // namespace attrcache::mpi::fortran

#endif  // ATTRCACHE_MPI_NATIVE_FORTRAN_H_
