// SPDX-License-Identifier: Apache-2.0
//
// With ATTRCACHE_CHECK=1, a keyval's callbacks are called through functions that look at what they
// return, and the keyval remembers where it was made.

#ifndef ATTRCACHE_MPI_WATCHING_CHECKED_H_
#define ATTRCACHE_MPI_WATCHING_CHECKED_H_

#include "attrcache/attrcache.h"
#include "mpi/watching/misuse.h"

namespace attrcache::mpi {

// What to give to create_keyval() instead of a keyval's callbacks. Out of memory: the callbacks as
// they are.
attrcache_callbacks checked(int kind, const attrcache_callbacks& callbacks);

// The keyval could not be made.
void discard_checked(const attrcache_callbacks& callbacks);

// The program's own callbacks of a keyval, whether they are checked or not.
const attrcache_callbacks& program_callbacks(const attrcache_keyval_info& info);

// Where a keyval was made; if that isn't known, its callback; if there is none, unknown.
Place creation_place(const attrcache_keyval_info& info);

// While an object's attributes are deleted because it is freed, on this thread: listens to the
// codes of its delete callbacks, to tell at the end if one was lost.
class WatchedFree {
 public:
  // `told`: whether MPI hands the code of a failed callback on to who frees the object.
  WatchedFree(int kind, void* object, bool told);
  WatchedFree(const WatchedFree&) = delete;
  WatchedFree& operator=(const WatchedFree&) = delete;
  // `code`: what MPI is told.
  void end(int code);
  // While a set or delete runs, perhaps by one of those callbacks: it tells its own failures.
  class Aside {
   public:
    Aside();
    ~Aside();
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    WatchedFree* const outer_;
  };

  // What a delete callback of an attribute of `object` returned.
  static void hear(void* object, int keyval, attrcache_callback* delete_fn, int code);

 private:
  void lose();

  WatchedFree* outer_;
  const int kind_;
  void* const object_;
  const bool told_;
  int code_ = 0;  // of the last callback that failed
  int keyval_ = 0;
  attrcache_callback* delete_fn_ = nullptr;
};

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_WATCHING_CHECKED_H_
