// SPDX-License-Identifier: Apache-2.0
//
// From attrcache's results to what an MPI function returns: MPI's error class, or the callback's
// own code, after the object's error handler was called with it. Errors of datatypes and keyvals go
// to MPI_COMM_WORLD's, as both MPIs do.

#ifndef ATTRCACHE_MPI_NATIVE_ERRORS_H_
#define ATTRCACHE_MPI_NATIVE_ERRORS_H_

#include "mpi/native/kinds.h"
#include "mpi/watching/watch.h"

namespace attrcache::mpi {

// The MPI error class for `result`; `callback_code` where a callback failed.
int error_code(int result, int callback_code);

// Calls the error handler (which may end the program) and returns `code`.
int raise_on_world(int code);
template <typename Kind>
int raise(typename Kind::Handle handle, int code);

template <>
int raise<Communicator>(MPI_Comm comm, int code);
template <>
int raise<Datatype>(MPI_Datatype type, int code);
template <>
int raise<Window>(MPI_Win win, int code);

// All in one, for a result that isn't ATTRCACHE_OK. `code_or_keyval`: the callback's code where a
// callback failed, else the keyval. That is one word, so that the paths to here, which are not to
// pay for it, need to keep only one.
template <typename Kind>
[[gnu::noinline, gnu::cold]] int fail(typename Kind::Handle handle, Doing doing, int result,
                                      int code_or_keyval) {
  if (result != ATTRCACHE_ERR_CALLBACK) note_result(result, doing, Kind::kNumber, code_or_keyval);
  return raise<Kind>(handle, error_code(result, code_or_keyval));
}

// The same where a keyval could not be freed.
int fail_to_free(int result, int kind, int keyval);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_ERRORS_H_
