// SPDX-License-Identifier: Apache-2.0
//
// Where the interposer's slow paths look for misuse (misuse.h). Nothing here is called on a hit:
// the paths come by when a call has failed, when it isn't ours to answer, or, with
// ATTRCACHE_CHECK=1, before each operation but the gets that hit.

#ifndef ATTRCACHE_MPI_WATCHING_WATCH_H_
#define ATTRCACHE_MPI_WATCHING_WATCH_H_

#include "attrcache/attrcache.h"
#include "mpi/native/native.h"
#include "mpi/watching/misuse.h"

namespace attrcache::mpi {

// What a result of attrcache's other than OK says about its caller.
[[gnu::noinline, gnu::cold]] void note_result(int result, Doing doing, int kind, int keyval);

// Before a call goes to MPI, because the keyval isn't ours, or MPI is not begun or over.
[[gnu::noinline, gnu::cold]] void note_passed_on(Doing doing, int kind, int keyval);

// Before MPI is asked about a handle.
template <typename Kind>
void note_handle(typename Kind::Handle handle, Doing doing, int keyval) {
  if (handle == native().null<Kind>()) {
    caught(Misuse::kNullHandle, {doing, Kind::kNumber, keyval, nullptr});
  }
}

// The rest is called with ATTRCACHE_CHECK=1 alone, when there is a domain.

// By any operation: whether this thread may call MPI.
void watch_thread(Doing doing, int kind, int keyval);

// Before an attribute of the table is set or deleted, or a keyval freed.
void watch_set(int kind, int keyval);
void watch_delete(int kind, const attrcache_table* table, int keyval);
void watch_free(int kind, int keyval);

// After MPI-1's Fortran get has given `value`.
void watch_fint(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                MPI_Fint value);

// At the end of MPI: what was forgotten.
void watch_end();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_WATCHING_WATCH_H_
