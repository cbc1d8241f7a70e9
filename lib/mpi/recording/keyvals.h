// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The makers (maker.h) of keyvals that are counted, and where these and those that are checked were
// made, by their numbers.

#ifndef ATTRCACHE_MPI_RECORDING_KEYVALS_H_
#define ATTRCACHE_MPI_RECORDING_KEYVALS_H_

#include <functional>

#include "mpi/recording/maker.h"

namespace attrcache::mpi::report {

// Call this when a keyval was made, before any other thread can know it. Without a maker it isn't
// counted.
void created(int kind, int keyval, Maker* maker);

// The maker of a keyval that exists, or null; and where it was made, if that is known.
Maker* maker_of(int kind, int keyval);
Place made_at(int kind, int keyval);

// Called by each get of a keyval that exists.
void got(int kind, int keyval, bool found);

// Visits the keyvals that were not freed, with the places where they were made.
void for_each_never_freed(const std::function<void(const Maker&, Place made_at)>& visit);

// Call this when a keyval is freed. Returns true the first time.
bool first_free(int kind, int keyval);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_RECORDING_KEYVALS_H_
