// SPDX-License-Identifier: Apache-2.0
//
// The anchor: the one real attribute that the interposer attaches to each object that the program
// uses with a keyval of ours. Its value is the object's attribute table. So MPI itself tells us,
// through the anchor's copy and delete callbacks, when an object is duplicated or ends, in whatever
// language and by whatever path.
//
// The map (handle_map.h) is a cache of what MPI knows: handle -> anchor. An entry is made on first
// touch, or in the anchor's own callbacks, and ends in the delete callback, before MPI can reuse
// the handle.

#ifndef ATTRCACHE_MPI_OBJECTS_ANCHOR_H_
#define ATTRCACHE_MPI_OBJECTS_ANCHOR_H_

#include "attrcache/attrcache.h"
#include "mpi/native/kinds.h"
#include "mpi/objects/handle_map.h"
#include "mpi/objects/served.h"

namespace attrcache::mpi {

struct alignas(64) Anchor {
  attrcache_table table;
  // What MPI says about its predefined attributes on this object, learned one by one: 0 not asked
  // yet, kAbsent, or the pointer that C gets.
  Atomic<void*> predefined[facts::kCommPlaces];
};
static_assert(sizeof(Anchor) == 128 && facts::kWinPlaces <= facts::kCommPlaces);

template <typename Kind>
inline constinit HandleMap objects;

// On the hot path: the anchor of an object that was touched before, or null.
template <typename Kind>
inline Anchor* find_anchor(typename Kind::Handle handle) {
  return static_cast<Anchor*>(objects<Kind>.find(facts::to_key(handle)));
}

// Asks MPI. Gives null and MPI_SUCCESS where the object has no anchor and none is attached.
// Otherwise the code of an error that MPI has already raised (the handle is bad, say; or there is no
// memory for an anchor, where Attach::kYes wants one). Threads that touch an object first at the
// same time get the same anchor.
enum class Attach { kNo, kYes, kIfAskedOften };
template <typename Kind>
int touch(typename Kind::Handle handle, Attach attach, Anchor** anchor);

// MPI's keyval for the anchors of a kind.
template <typename Kind>
int create_anchor(int* keyval);

// What MPI_Finalize was told of the callbacks it ran for MPI_COMM_SELF or MPI_COMM_WORLD.
// Attributes by which we notice that, and which it deletes later, say the same: it may heed the
// last code alone.
int code_at_finalize(MPI_Comm comm);

void forget_all_objects();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_OBJECTS_ANCHOR_H_
