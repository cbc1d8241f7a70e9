// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The anchor is the one real MPI attribute that the interposer attaches to each object that the
// program uses with a keyval of attrcache's. Its value points to the object's attribute table.
// Through the anchor's copy and delete callbacks MPI itself tells the interposer when an object is
// duplicated or freed, in whatever language and by whatever function that happens.
//
// The map (handle_map.h) caches what MPI knows: which anchor a handle has. An entry is made when
// the object is first used, or in the anchor's own callbacks. It is erased in the anchor's delete
// callback, before MPI can reuse the handle.

#ifndef ATTRCACHE_MPI_OBJECTS_ANCHOR_H_
#define ATTRCACHE_MPI_OBJECTS_ANCHOR_H_

#include <algorithm>

#include "attrcache/attrcache.h"
#include "mpi/native/kinds.h"
#include "mpi/objects/handle_map.h"
#include "platform/atomic.h"

namespace attrcache::mpi {

// The most predefined keyvals that a kind has.
#define ATTRCACHE_KIND(kind, ...) kind::kPredefined,
inline constexpr unsigned kMostPredefined = std::max({
#include "mpi/native/kinds.def"
});

struct alignas(64) Anchor {
  attrcache_table table;
  // MPI's predefined attributes of this object (entries/predefined.h). Each is null if MPI was not
  // asked yet, kAbsent if the object doesn't have the attribute, or else the pointer that MPI gives
  // in C.
  Atomic<void*> predefined[kMostPredefined];
};
static_assert(sizeof(Anchor) == 128);

template <typename Kind>
inline constinit HandleMap objects;

// Returns the anchor of an object that is in the map, or null. It doesn't ask MPI.
template <typename Kind>
inline Anchor* find_anchor(typename Kind::Handle handle) {
  return static_cast<Anchor*>(objects<Kind>.find(facts::to_key(handle)));
}

// MPICH's threadcomms: one handle, under which each thread has attributes of its own, and so an
// anchor. MPI is asked for it each time.
inline constinit HandleMap threadcomms;

template <typename Kind>
inline bool is_threadcomm(uintptr_t key) {
  return Kind::kNumber == kCommunicator && threadcomms.find(key) != nullptr;
}

// Enters an object's anchor into the map. If there is no memory for that, the object is served all
// the same, only more slowly.
template <typename Kind>
inline void remember(uintptr_t key, Anchor* anchor) {
  if (!is_threadcomm<Kind>(key)) objects<Kind>.insert(key, anchor);
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_OBJECTS_ANCHOR_H_
