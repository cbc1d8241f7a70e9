// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The one place that calls user code: copy_fn, delete_fn and destructors, each in its keyval's
// convention, synchronously, on the calling thread. The library holds nothing while user code runs,
// neither a lock nor an epoch pin, so a callback may call any function of the library. An exception
// that leaves a callback is caught by the function that the runtime has given for that, because the
// library is compiled without exceptions, and becomes the code ATTRCACHE_CALLBACK_THREW.

#ifndef ATTRCACHE_CALLBACK_EXECUTOR_H_
#define ATTRCACHE_CALLBACK_EXECUTOR_H_

#include <cstdint>

#include "attrcache/attrcache.h"

namespace attrcache {

// How the callbacks of a kind are called.
struct CallingConvention {
  attrcache_handle_form handle;
  int (*fortran_handle)(void* object);           // may be null
  attrcache_catch_exceptions* catch_exceptions;  // may be null
  bool fint_is_64_bits;                          // a Fortran INTEGER
  int fortran_false;
};

// A keyval's callbacks.
struct KeyvalCallbacks {
  attrcache_callbacks functions;
};

// One attribute, as a callback gets it. `at` points to the value, which stays there unchanged
// during the call.
struct CallbackArguments {
  const CallingConvention& convention;
  void* object;
  int keyval;  // the int that users know
  const uint64_t* at;
  attrcache_tag tag;
};

// What a copy_fn answered.
struct Copied {
  int code;  // 0: success
  bool flag;
  uint64_t value;
  attrcache_tag tag;
};

// Runs a copy_fn that is neither NULL_COPY nor DUP.
Copied run_copy(KeyvalCallbacks& callbacks, const CallbackArguments& arguments);

// Runs a delete_fn that isn't NULL_DELETE, and returns its code.
int run_delete(KeyvalCallbacks& callbacks, const CallbackArguments& arguments);

// Runs the destructors of extra_state and context, if there are any. An exception that one of them
// throws is dropped, because a destructor has no way to report an error.
void run_destructor(KeyvalCallbacks& callbacks, const CallingConvention& convention);

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_EXECUTOR_H_
