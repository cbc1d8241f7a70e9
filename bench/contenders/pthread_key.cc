// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// pthread_getspecific. It does for threads what attributes do for objects, so here the only object
// of a thread is the thread itself.

#include <pthread.h>

#include "bench/harness/describe.h"

namespace {

struct PthreadKey {
  // An object is the calling thread's set of values.
  struct Object {
    ~Object() {
      for (const auto key : bench::Keys<PthreadKey>::at_least(0)) pthread_setspecific(key, nullptr);
    }
  };
  using Handle = Object*;
  using Key = pthread_key_t;
  static constexpr bool kRegistersKeys = true;
  static constexpr long kBytes = 0;

  static Handle handle(Object& object) { return &object; }
  static bool create_key(pthread_key_t* key) { return pthread_key_create(key, nullptr) == 0; }
  static bool free_key(pthread_key_t* key) { return pthread_key_delete(*key) == 0; }
  static bool get(Object*, pthread_key_t key, void** value) {
    *value = pthread_getspecific(key);
    return *value != nullptr;
  }
  static bool set(Object*, pthread_key_t key, void* value) {
    return pthread_setspecific(key, value) == 0;
  }
  static bool erase(Object*, pthread_key_t key) { return pthread_setspecific(key, nullptr) == 0; }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<PthreadKey>("pthread_getspecific",
                              {.share = false, .keyvals = 1000, .objects = 1});
}
