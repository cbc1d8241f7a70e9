// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/errors.h"

#include "mpi/native/native.h"

namespace attrcache::mpi {
namespace {

thread_local constinit Refusal* pending __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace

bool is_keyval_error(int result) {
  switch (result) {
    case ATTRCACHE_ERR_KEYVAL_INVALID:
    case ATTRCACHE_ERR_KEYVAL_UNKNOWN:
    case ATTRCACHE_ERR_KEYVAL_STALE:
    case ATTRCACHE_ERR_KEYVAL_KIND:
    case ATTRCACHE_ERR_KEYVAL_PREDEFINED:
      return true;
    default:
      return false;
  }
}

int error_code(int result, int callback_code) {
  switch (result) {
    case ATTRCACHE_ERR_NULL:
    case ATTRCACHE_ERR_ARGUMENT:
      return MPI_ERR_ARG;
    case ATTRCACHE_ERR_MEMORY:
      return MPI_ERR_NO_MEM;
    case ATTRCACHE_ERR_CALLBACK:
      return callback_code == ATTRCACHE_CALLBACK_THREW ? MPI_ERR_OTHER : callback_code;
    default:
      return is_keyval_error(result) ? MPI_ERR_KEYVAL : MPI_ERR_OTHER;
  }
}

int raise_on_world(int code) {
  native().comm.call_errhandler(native().world, code);
  return code;
}

Refusal::Refusal(int kind, const void* object, int code)
    : kind_(kind), object_(object), code_(code) {
  pending = this;
}

Refusal::~Refusal() {
  if (pending == this) pending = nullptr;
}

bool Refusal::asked(int kind, const void* object, int* code) {
  Refusal* refusal = pending;
  if (refusal == nullptr || refusal->kind_ != kind || refusal->object_ != object) return false;
  pending = nullptr;
  refusal->used_ = true;
  *code = refusal->code_;
  return true;
}

}  // namespace attrcache::mpi
