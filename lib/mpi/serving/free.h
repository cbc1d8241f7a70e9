// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Deletes all attributes of an object that MPI is freeing. When a delete callback fails, it does
// what the MPI underneath would do (FreeMode, behaviour.h).

#ifndef ATTRCACHE_MPI_SERVING_FREE_H_
#define ATTRCACHE_MPI_SERVING_FREE_H_

#include "attrcache/attrcache.h"
#include "mpi/native/behaviour.h"

namespace attrcache::mpi {

struct Freed {
  int code;     // what to tell MPI: MPI_SUCCESS or a callback's code
  bool kept;    // the object is not freed, and attributes are still attached
  bool leaked;  // the object is freed, but something is still attached, so its table must be kept
};

Freed free_attributes(attrcache_kind* kind, attrcache_table* table, void* object, FreeMode mode);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_SERVING_FREE_H_
