// SPDX-License-Identifier: Apache-2.0
//
// The keyvals that are alive: from a keyval to its maker, and the functions that attrcache calls
// instead of the program's callbacks, which call those in turn and count and time them.

#ifndef ATTRCACHE_MPI_REPORT_KEYVALS_H_
#define ATTRCACHE_MPI_REPORT_KEYVALS_H_

#include "attrcache/attrcache.h"
#include "mpi/report/maker.h"

namespace attrcache::mpi::report {

struct Wrapped;

// `out`: what to give to attrcache for `callbacks`. Null, also where `maker` is, and `out` as it
// was given: out of memory; the keyval goes uncounted.
Wrapped* wrap(int kind, const attrcache_callbacks& callbacks, Maker* maker,
              attrcache_callbacks* out);
// No keyval was made of it.
void discard(Wrapped* wrapped);
// This one was. Nobody else knows it yet. `wrapped` may be null.
void begin_keyval(Wrapped* wrapped, int keyval);

// The callbacks that were given to wrap(), from those that came of it.
void unwrap(attrcache_callbacks& callbacks);

// The maker of a keyval that exists, or null.
Maker* maker_of(int kind, int keyval);

// A get on a slow path.
void got(int kind, int keyval, bool found);

// A free, of a keyval that has not been freed before: true once.
bool first_free(int kind, int keyval);

// Adds what living keyvals have been read to their makers, as if they had ended. To be called once,
// when nobody reads any more.
void settle_keyvals();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_KEYVALS_H_
