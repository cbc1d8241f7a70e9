// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Counts the communicators, datatypes and windows that the program makes and frees, by the place
// that makes them, with or without attributes, where a report is wanted.

#ifndef ATTRCACHE_MPI_RECORDING_MADE_H_
#define ATTRCACHE_MPI_RECORDING_MADE_H_

#include <cstdint>
#include <functional>

#include "mpi/native/origin.h"

namespace attrcache::mpi::report {

// A constructor has returned the object with this key (facts::to_key). A second call for the same
// object, as where a tool passes MPI_'s call on to PMPI_'s, does nothing.
void object_made(int kind, uintptr_t key);
// The object is freed. Call this before MPI may give its handle to another one. Returns the place
// that made it, for object_kept(); none if it isn't known.
struct Site;
Site* object_freed(int kind, uintptr_t key);
// It has not been freed after all.
void object_kept(int kind, uintptr_t key, Site* site);

// What was made at a place. Beyond 4096 places, all are one without an address.
struct Site {
  int kind;
  Place place;
  uint64_t made = 0;
  uint64_t freed = 0;
};
void for_each_site(const std::function<void(const Site&)>& visit);

// How many objects of a kind were alive at once, at most.
uint64_t most_alive(int kind);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_RECORDING_MADE_H_
