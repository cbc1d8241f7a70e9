// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What most programs do: each object has a hash map and a lock.

#ifndef BENCH_CONTENDERS_LOCKED_MAP_H_
#define BENCH_CONTENDERS_LOCKED_MAP_H_

#include <mutex>
#include <unordered_map>

#include "bench/contenders/counted_keys.h"

namespace bench {

// A get holds a ReadLock of the Mutex.
template <class Mutex, class ReadLock>
struct LockedMap : CountedKeys {
  struct Object {
    Mutex mutex;
    std::unordered_map<int, void*> values;
  };
  using Handle = Object*;
  static constexpr long kBytes = sizeof(Object);

  static Handle handle(Object& object) { return &object; }
  static bool get(Object* object, int key, void** value) {
    const ReadLock hold(object->mutex);
    const auto found = object->values.find(key);
    if (found == object->values.end()) return false;
    *value = found->second;
    return true;
  }
  static bool set(Object* object, int key, void* value) {
    const std::lock_guard hold(object->mutex);
    object->values[key] = value;
    return true;
  }
  static bool erase(Object* object, int key) {
    const std::lock_guard hold(object->mutex);
    return object->values.erase(key) == 1;
  }
  static bool dup_free(Object* object) {
    Object copy;
    const ReadLock hold(object->mutex);
    copy.values = object->values;
    return copy.values.size() == object->values.size();
  }
};

}  // namespace bench

#endif  // BENCH_CONTENDERS_LOCKED_MAP_H_
