// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a runtime has given its domain: who the threads are, and how an exception that leaves a
// callback is caught. The library itself is compiled without exceptions and needs no C++ runtime.

#ifndef ATTRCACHE_CALLBACK_RUNTIME_HOOKS_H_
#define ATTRCACHE_CALLBACK_RUNTIME_HOOKS_H_

#include "attrcache/attrcache.h"
#include "callback/threads.h"

namespace attrcache {

struct RuntimeHooks {
  Threads threads;
  attrcache_catch_exceptions* catch_exceptions;  // null: callbacks aren't left by exceptions
};

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_RUNTIME_HOOKS_H_
