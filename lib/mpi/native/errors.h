// SPDX-License-Identifier: Apache-2.0
//
// How a call fails. MPI itself raises the error, in a function of its own that fails in the same
// way (entries/raise.h), because only MPI knows all of it: which error handler hears of the error
// (on MPICH an object without one has MPI_COMM_SELF's or MPI_COMM_WORLD's, but
// MPI_Comm_call_errhandler takes the missing handler as fatal), what the function then returns, and
// what the message says that ends the program.

#ifndef ATTRCACHE_MPI_NATIVE_ERRORS_H_
#define ATTRCACHE_MPI_NATIVE_ERRORS_H_

#include "mpi/native/kinds.h"

namespace attrcache::mpi {

// Whether `result` says that the keyval can't be used.
bool is_keyval_error(int result);

// What a callback of MPI's is to return for `result`: the callback's own code where a callback
// failed, else MPI's error class.
int error_code(int result, int callback_code);

// Calls MPI_COMM_WORLD's error handler (which may end the program) and returns `code`. Only for a
// keyval that can't be made because there are too many or memory is out: no call to MPI is known
// to fail like that.
int raise_on_world(int code);

// Makes a native set or delete of an object's anchor fail with `code`. While it exists, the next
// call of the anchor's delete callback for that object, on this thread, returns `code` and deletes
// nothing: so MPI leaves the anchor attached, as it leaves any attribute whose delete callback
// failed, and raises the error. Nothing about the object has changed meanwhile for anybody else.
// It is over as soon as the callback has been called: the error handler, which MPI calls next, may
// do anything.
class Refusal {
 public:
  Refusal(int kind, const void* object, int code);
  ~Refusal();
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

  // Whether the callback was called.
  bool used() const { return used_; }

  // By the callback: whether this is for a refusal only, and then the code to return.
  static bool asked(int kind, const void* object, int* code);

 private:
  const int kind_;
  const void* const object_;
  const int code_;
  bool used_ = false;
};

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_ERRORS_H_
