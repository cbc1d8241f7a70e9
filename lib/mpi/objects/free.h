// SPDX-License-Identifier: Apache-2.0
//
// Deletes all attributes of an object that MPI is freeing, and takes failing delete callbacks as
// that MPI does (behaviour.h, FreeMode).

#ifndef ATTRCACHE_MPI_OBJECTS_FREE_H_
#define ATTRCACHE_MPI_OBJECTS_FREE_H_

#include "attrcache/attrcache.h"
#include "mpi/native/behaviour.h"

namespace attrcache::mpi {

struct Freed {
  int code;     // for MPI: MPI_SUCCESS, or a callback's code
  bool kept;    // attributes are still attached, and the object goes on
  bool leaked;  // the object goes, but something is still attached: its table must not be freed
};

Freed free_attributes(attrcache_kind* kind, attrcache_table* table, void* object, FreeMode mode);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_OBJECTS_FREE_H_
