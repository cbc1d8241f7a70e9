// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What is counted of keyvals (process.h says when). This maps a keyval to its maker (maker.h), and has the functions that
// attrcache calls instead of the program's callbacks: they call those, and count and time them.

#ifndef ATTRCACHE_MPI_RECORDING_KEYVALS_H_
#define ATTRCACHE_MPI_RECORDING_KEYVALS_H_

#include "attrcache/attrcache.h"
#include "mpi/recording/maker.h"

namespace attrcache::mpi::report {

struct Wrapped;

// Exists while a keyval is being made.
class Creation {
 public:
  Creation(int kind, const attrcache_callbacks& callbacks, const Source& source);
  ~Creation();
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;

  // What to give to attrcache. If nothing is counted or memory is short, these are the given ones,
  // and the keyval isn't counted.
  const attrcache_callbacks* callbacks() const { return &callbacks_; }
  // To be called when the keyval was made, before anybody else knows it.
  void done(int keyval);

 private:
  attrcache_callbacks callbacks_;
  Wrapped* wrapped_ = nullptr;
};

// Replaces callbacks that a Creation made by those that were given to it.
void unwrap(attrcache_callbacks& callbacks);

// The maker of a keyval that exists, or null.
Maker* maker_of(int kind, int keyval);

// To be called by a get of a keyval that exists.
void got(int kind, int keyval, bool found);

// To be called when a keyval is freed. Returns true the first time.
bool first_free(int kind, int keyval);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_RECORDING_KEYVALS_H_
