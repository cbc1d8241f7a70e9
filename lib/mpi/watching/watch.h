// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions by which the interposer's slow paths look for misuse (misuse.h). No hit calls them.
// They are called when a call has failed or when MPI has to answer it, and with ATTRCACHE_CHECK=1
// before each operation except the gets that hit.

#ifndef ATTRCACHE_MPI_WATCHING_WATCH_H_
#define ATTRCACHE_MPI_WATCHING_WATCH_H_

#include "attrcache/attrcache.h"
#include "mpi/native/native.h"
#include "mpi/watching/misuse.h"

namespace attrcache::mpi {

// Notes the misuse that a result other than ATTRCACHE_OK stands for.
[[gnu::noinline, gnu::cold]] void note_result(int result, Doing doing, int kind, int keyval);

// Call this before a call is passed on to MPI, because the keyval isn't attrcache's, or because MPI
// has not begun or is over.
[[gnu::noinline, gnu::cold]] void note_passed_on(Doing doing, int kind, int keyval);

// Call this when MPI makes a keyval because attrcache has none left. The first time,
// ATTRCACHE_VERBOSE tells.
[[gnu::noinline, gnu::cold]] void note_exhausted(int kind);

// Call this before MPI is asked about a handle.
template <Anchored Kind>
void note_handle(typename Kind::Handle handle, Doing doing, int keyval) {
  if (handle == native().null<Kind>())
    caught(Misuse::kNullHandle, {doing, Kind::kNumber, keyval, nullptr});
}

// The other functions are called with ATTRCACHE_CHECK=1 only, once there is a domain.

// Checks in any operation whether this thread may call MPI.
void watch_thread(Doing doing, int kind, int keyval);

// Check an operation, and the thread, before an attribute is set or deleted.
void watch_set(Doing doing, int kind, int keyval);
void watch_delete(int kind, const attrcache_table* table, int keyval);
// Checks a free of a keyval; called for a report, too.
void watch_free(int kind, int keyval);

// Call this when MPI has said that a communicator doesn't have a predefined attribute.
void watch_absent(MPI_Comm comm, int keyval);

// Call this after MPI-1's Fortran get has returned `value`.
void watch_fint(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                MPI_Fint value);

// Call this at the end of MPI: looks for keyvals and objects that were never freed.
void watch_end();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_WATCHING_WATCH_H_
