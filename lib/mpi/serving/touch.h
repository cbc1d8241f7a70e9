// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Finds or makes the anchor of an object that isn't in the map.

#ifndef ATTRCACHE_MPI_SERVING_TOUCH_H_
#define ATTRCACHE_MPI_SERVING_TOUCH_H_

#include "mpi/objects/anchor.h"

namespace attrcache::mpi {

// Asks MPI for the object's anchor. If there is none, it attaches one if `if_none` says so, and
// otherwise gives null and MPI_SUCCESS. If it returns another code, MPI has already raised that
// error (for example because the handle is bad, or because Attach::kYes found no memory for an
// anchor). Threads that touch an object first at the same time get the same anchor.
//
// Only a set may attach an anchor, and begin_first(). A get must not: MPI may be walking the
// object's attributes at that moment, for a dup or a free, and be calling the callback of a keyval
// that isn't attrcache's, which makes the get. An attribute that is added then can make MPI lose
// others, or is itself never deleted.
enum class Attach { kNo, kYes };
template <Anchored Kind>
int touch(typename Kind::Handle handle, Attach if_none, Anchor** anchor);

// Attaches an anchor to a communicator that has none. If there is no memory, nothing happens, and
// the communicator's first set tries again.
void attach_if_there_is_memory(MPI_Comm comm);

// Gives a late anchor (freeing.h) to MPI, because the object has not been freed after all. If that
// fails, the anchor's attributes are deleted.
template <typename Kind>
void adopt_late_anchor(typename Kind::Handle handle, Anchor* anchor);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_SERVING_TOUCH_H_
