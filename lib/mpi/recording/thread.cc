// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// pthread_create and thrd_create, overridden so that each thread's counters (tally.h) are
// registered before the thread runs any code of the program. Its gets thus need not check for that.

#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>

#include <cerrno>

#include "mpi/native/entry.h"
#include "mpi/recording/tally.h"
#include "platform/memory.h"

namespace attrcache::mpi::report {
namespace {

template <typename Function>
struct Start {
  Function function;
  void* argument;
};

template <typename Function, typename Result>
Result run(void* start) {
  auto* given = static_cast<Start<Function>*>(start);
  const Start<Function> copy = *given;
  kProcessMemory.destroy(given);
  watch_this_thread();
  return copy.function(copy.argument);
}

// The function that ours hides. glibc always has it.
template <typename Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Registers the thread that loads the library.
[[gnu::constructor]] void watch_first() { watch_this_thread(); }

}  // namespace
}  // namespace attrcache::mpi::report

using attrcache::mpi::report::behind;
using attrcache::mpi::report::run;
using attrcache::mpi::report::Start;

extern "C" {

ATTRCACHE_ENTRY int pthread_create(pthread_t* __restrict thread,
                                   const pthread_attr_t* __restrict attributes,
                                   void* (*function)(void*), void* __restrict argument) {
  using Function = void* (*)(void*);
  static const auto next = behind<decltype(pthread_create)>("pthread_create");
  auto* start =
      attrcache::kProcessMemory.make<Start<Function>>(Start<Function>{function, argument});
  if (start == nullptr) return EAGAIN;
  const int result = next(thread, attributes, run<Function, void*>, start);
  if (result != 0) attrcache::kProcessMemory.destroy(start);
  return result;
}

ATTRCACHE_ENTRY int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  static const auto next = behind<decltype(thrd_create)>("thrd_create");
  auto* start =
      attrcache::kProcessMemory.make<Start<thrd_start_t>>(Start<thrd_start_t>{function, argument});
  if (start == nullptr) return thrd_nomem;
  const int result = next(thread, run<thrd_start_t, int>, start);
  if (result != thrd_success) attrcache::kProcessMemory.destroy(start);
  return result;
}

}  // extern "C"
