// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The keyvals that are alive. This maps a keyval to its maker (maker.h), and has the functions that
// attrcache calls instead of the program's callbacks: they call those, and count and time them.

#ifndef ATTRCACHE_MPI_RECORDING_KEYVALS_H_
#define ATTRCACHE_MPI_RECORDING_KEYVALS_H_

#include "attrcache/attrcache.h"
#include "mpi/recording/maker.h"

namespace attrcache::mpi::report {

struct Wrapped;

// Makes `out` what to give to attrcache instead of `callbacks`. If `maker` is null or memory is
// short, it returns null, `out` is the same as `callbacks`, and the keyval isn't counted.
Wrapped* wrap(int kind, const attrcache_callbacks& callbacks, Maker* maker,
              attrcache_callbacks* out);
// To be called if no keyval was made with it.
void discard(Wrapped* wrapped);
// To be called if this keyval was made with it, before anybody else knows the keyval. `wrapped` may
// be null.
void begin_keyval(Wrapped* wrapped, int keyval);

// Replaces callbacks that wrap() made by those that were given to it.
void unwrap(attrcache_callbacks& callbacks);

// The maker of a keyval that exists, or null.
Maker* maker_of(int kind, int keyval);

// To be called by a get on a slow path.
void got(int kind, int keyval, bool found);

// To be called when a keyval is freed. Returns true the first time.
bool first_free(int kind, int keyval);

// Adds the reads of the keyvals that are still alive to their makers, as if the keyvals had ended.
// To be called once, when nobody reads any more.
void settle_keyvals();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_RECORDING_KEYVALS_H_
