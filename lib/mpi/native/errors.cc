// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/errors.h"

#include "mpi/native/native.h"
#include "runtimes/error_class.h"

namespace attrcache::mpi {
namespace {

thread_local constinit Refusal* pending __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace

bool is_keyval_error(int result) { return error_code(result, 0) == MPI_ERR_KEYVAL; }

int error_code(int result, int callback_code) {
  return attrcache_error_class(result, callback_code);
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
