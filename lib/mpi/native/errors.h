// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How a call fails. MPI itself raises the error, in a function of its own that fails in the same
// way (entries/raise.h), because only MPI knows all that belongs to it: which error handler is
// called, what the function then returns, and what the message says if that ends the program. (On
// MPICH, for example, an object without an error handler uses MPI_COMM_SELF's or MPI_COMM_WORLD's,
// but MPI_Comm_call_errhandler takes the missing handler as fatal.)

#ifndef ATTRCACHE_MPI_NATIVE_ERRORS_H_
#define ATTRCACHE_MPI_NATIVE_ERRORS_H_

#include "mpi/native/kinds.h"

namespace attrcache::mpi {

// Whether `result` says that the keyval can't be used.
bool is_keyval_error(int result);

// The MPI error code for `result`: the callback's own code if a callback failed, else an error
// class.
int error_code(int result, int callback_code);

// The same where the call ends: the exception of a callback that threw goes on instead (see
// let_exception_go_on()).
int failure(int result, int callback_code);

// Calls MPI_COMM_WORLD's error handler (which may end the program) and returns `code`. This is for
// errors that no call to MPI is known to fail with: too many keyvals, no memory, bad arguments of
// MPIX_* functions, and objects of kinds without error handlers.
int raise_on_world(int code);

// Makes MPI's own set or delete of an object's anchor fail with `code`. While a Refusal exists, the
// next call of the anchor's delete callback for that object, on this thread, returns `code` and
// deletes nothing. MPI then leaves the anchor attached, as it does with any attribute whose delete
// callback failed, and raises the error. For all other threads nothing about the object has changed
// meanwhile. The Refusal is used up as soon as the callback was called, because the error handler,
// which MPI calls next, may do anything. (It may also leave, where MPI fails before the callback.)
class Refusal {
 public:
  [[gnu::noinline]] Refusal(int kind, const void* object, int code);
  ~Refusal();
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

  // Whether the anchor's delete callback was called.
  bool used() const { return used_; }

  // Called by the anchor's delete callback: whether it was called only for a Refusal. If so, gives
  // the code to return.
  static bool asked(int kind, const void* object, int* code);

 private:
  const int kind_;
  const void* const object_;
  const int code_;
  bool used_ = false;
};

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_ERRORS_H_
