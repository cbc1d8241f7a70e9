// SPDX-License-Identifier: Apache-2.0

#include "mpi/native/errors.h"

#include "mpi/native/native.h"

namespace attrcache::mpi {

int error_code(int result, int callback_code) {
  switch (result) {
    case ATTRCACHE_ERR_KEYVAL_INVALID:
    case ATTRCACHE_ERR_KEYVAL_UNKNOWN:
    case ATTRCACHE_ERR_KEYVAL_STALE:
    case ATTRCACHE_ERR_KEYVAL_KIND:
    case ATTRCACHE_ERR_KEYVAL_PREDEFINED:
      return MPI_ERR_KEYVAL;
    case ATTRCACHE_ERR_NULL:
    case ATTRCACHE_ERR_ARGUMENT:
      return MPI_ERR_ARG;
    case ATTRCACHE_ERR_MEMORY:
      return MPI_ERR_NO_MEM;
    case ATTRCACHE_ERR_CALLBACK:
      return callback_code;
    default:
      return MPI_ERR_OTHER;
  }
}

int raise_on_world(int code) {
  native().comm_call_errhandler(native().world, code);
  return code;
}

int fail_to_free(int result, int kind, int keyval) {
  note_result(result, Doing::kFree, kind, keyval);
  return raise_on_world(error_code(result, 0));
}

template <>
int raise<Communicator>(MPI_Comm comm, int code) {
  native().comm_call_errhandler(comm, code);
  return code;
}

template <>
int raise<Datatype>(MPI_Datatype, int code) {
  return raise_on_world(code);
}

template <>
int raise<Window>(MPI_Win win, int code) {
  native().win_call_errhandler(win, code);
  return code;
}

}  // namespace attrcache::mpi
