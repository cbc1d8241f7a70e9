// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Keyvals whose callbacks attrcache calls through functions of its own: to count and time them for
// a report, for ThreadSanitizer (objects/tsan.h), and with ATTRCACHE_CHECK=1 to look at what they
// return and to remember where the keyval was made.

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

// Returns where the keyval was made; no place if that isn't known.
Place creation_place(const attrcache_callbacks& callbacks);

// Exists while an object's attributes are deleted because it is being freed, on this thread. It
// records the codes of the delete callbacks, and reports at the end if one was lost.
class WatchedFree {
 public:
  // `told` says whether MPI passes the code of a failed callback on to the caller of the free.
  WatchedFree(int kind, void* object, bool told);
  WatchedFree(const WatchedFree&) = delete;
  WatchedFree& operator=(const WatchedFree&) = delete;

  // `code` is what is returned to MPI.
  void end(int code);

  // Exists while a set or delete runs, perhaps inside one of those callbacks. A set or delete
  // reports its own failures, so the WatchedFree must not hear them.
  class Aside {
   public:
    Aside();
    ~Aside();
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    WatchedFree* const outer_;
  };

  // Tells the innermost WatchedFree what a delete callback of an attribute of `object` returned.
  static void hear(void* object, int keyval, attrcache_callback* delete_fn, int code);

 private:
  void lose();

  WatchedFree* outer_;
  const int kind_;
  void* const object_;
  const bool told_;
  int code_ = 0;  // the code of the last callback that failed
  int keyval_ = 0;
  attrcache_callback* delete_fn_ = nullptr;
};

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_WATCHING_OBSERVED_H_
