// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Keyvals whose callbacks attrcache calls through functions of its own: to count and time them for
// a report, for ThreadSanitizer (objects/tsan.h), and with ATTRCACHE_CHECK=1 to look at what they
// return.

#ifndef ATTRCACHE_MPI_WATCHING_OBSERVED_H_
#define ATTRCACHE_MPI_WATCHING_OBSERVED_H_

#include "attrcache/attrcache.h"
#include "mpi/recording/maker.h"
#include "mpi/watching/misuse.h"

namespace attrcache::mpi {

struct Observed;

// Exists while a keyval is being made.
class Creation {
 public:
  Creation(int kind, const attrcache_callbacks& callbacks, const report::Source& source);
  ~Creation();
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;
  // The callbacks to give to attrcache. If nothing is observed, or memory is short, these are the
  // program's, and the keyval is neither counted nor checked.
  const attrcache_callbacks& callbacks() const { return callbacks_; }
  // Call this when the keyval was made, before any other thread can know it.
  void done(int keyval);

 private:
  attrcache_callbacks callbacks_;
  Observed* observed_ = nullptr;
};

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_WATCHING_OBSERVED_H_
