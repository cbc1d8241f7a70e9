// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/errors.h"

#include "mpi/native/exceptions.h"
#include "mpi/native/native.h"
#include "mpi/native/stack_place.h"
#include "runtimes/error_class.h"

namespace attrcache::mpi {
namespace {

thread_local constinit Refusal* pending __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local constinit StackPlace place;  // of the pending one

}  // namespace

bool is_keyval_error(int result) { return error_code(result, 0) == MPI_ERR_KEYVAL; }

int error_code(int result, int callback_code) {
  return attrcache_error_class(result, callback_code);
}

int failure(int result, int callback_code) {
  if (result == ATTRCACHE_ERR_CALLBACK && callback_code == ATTRCACHE_CALLBACK_THREW)
    let_exception_go_on();
  return error_code(result, callback_code);
}

int raise_on_world(int code) {
  native().comm.call_errhandler(native().world, code);
  return code;
}

Refusal::Refusal(int kind, const void* object, int code)
    : kind_(kind), object_(object), code_(code) {
  pending = this;
  place = {this, __builtin_return_address(0)};
}

Refusal::~Refusal() {
  if (pending == this) pending = nullptr;
}

bool Refusal::asked(int kind, const void* object, int* code) {
  Refusal* refusal = pending;
  if (refusal == nullptr) return false;
  if (!place.lives()) pending = nullptr;  // an error handler has left
  if (pending == nullptr || refusal->kind_ != kind || refusal->object_ != object) return false;
  pending = nullptr;
  refusal->used_ = true;
  *code = refusal->code_;
  return true;
}

}  // namespace attrcache::mpi
