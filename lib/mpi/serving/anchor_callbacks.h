// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The callbacks by which MPI tells the interposer that an object with an anchor is duplicated or
// freed (objects/anchor.h).

#ifndef ATTRCACHE_MPI_SERVING_ANCHOR_CALLBACKS_H_
#define ATTRCACHE_MPI_SERVING_ANCHOR_CALLBACKS_H_

#include "mpi/objects/anchor.h"

namespace attrcache::mpi {

// Makes an anchor without attributes; null when out of memory.
Anchor* new_anchor();
void delete_anchor(Anchor* anchor);

// Deletes an anchor that MPI doesn't know, and its attributes. Their delete_fns get the handle,
// which is no longer valid.
template <typename Kind>
void delete_late_anchor(typename Kind::Handle handle, Anchor* anchor);

// Makes MPI's keyval for the anchors of a kind.
template <typename Kind>
int create_anchor_keyval(int* keyval);

// The code that MPI_Finalize got after the program's delete callbacks on MPI_COMM_SELF or
// MPI_COMM_WORLD had run. The attributes by which the interposer notices the end of MPI are deleted
// after those. Their delete callbacks must return this code again, because some MPIs heed only the
// last code.
int code_at_finalize(MPI_Comm comm);

// Empties the maps of all kinds, so that from then on MPI is asked about every object.
void forget_all_objects();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_SERVING_ANCHOR_CALLBACKS_H_
