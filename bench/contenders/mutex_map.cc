// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What most programs do: each object has a hash map and a lock.

#include <mutex>
#include <unordered_map>

#include "bench/harness/describe.h"

namespace {

struct MutexMap : bench::CountedKeys {
  struct Object {
    std::mutex mutex;
    std::unordered_map<int, void*> values;
  };

  static bool get(Object* object, int key, void** value) {
    const std::lock_guard hold(object->mutex);
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
  static bool set_if_absent(Object* object, int key, void* value, void** present) {
    const std::lock_guard hold(object->mutex);
    const auto [place, absent] = object->values.try_emplace(key, value);
    *present = place->second;
    return absent;
  }
  static bool erase(Object* object, int key) {
    const std::lock_guard hold(object->mutex);
    return object->values.erase(key) == 1;
  }
  static bool dup_free(Object* object) {
    Object copy;
    const std::lock_guard hold(object->mutex);
    copy.values = object->values;
    return copy.values.size() == object->values.size();
  }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) { return describe<MutexMap>("mutex_map"); }
