// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Finds or makes the anchor of an object that isn't in the map.

#ifndef ATTRCACHE_MPI_SERVING_TOUCH_H_
#define ATTRCACHE_MPI_SERVING_TOUCH_H_

#include "mpi/objects/anchor.h"

namespace attrcache::mpi {

// Asks MPI for the object's anchor. If there is none, it attaches one if `attach` says so, and
// otherwise gives null and MPI_SUCCESS. If it returns another code, MPI has already raised that
// error (for example because the handle is bad, or because Attach::kYes found no memory for an
// anchor). Threads that touch an object first at the same time get the same anchor.
enum class Attach { kNo, kYes, kIfAskedOften };
template <typename Kind>
int touch(typename Kind::Handle handle, Attach attach, Anchor** anchor);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_SERVING_TOUCH_H_
