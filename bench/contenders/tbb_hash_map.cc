// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// tbb::concurrent_hash_map, which has a lock in every element.

#include <tbb/concurrent_hash_map.h>

#include "bench/harness/describe.h"

namespace {

struct TbbHashMap : bench::CountedKeys {
  using Object = tbb::concurrent_hash_map<int, void*>;

  static bool get(Object* object, int key, void** value) {
    Object::const_accessor found;
    if (!object->find(found, key)) return false;
    *value = found->second;
    return true;
  }
  static bool set(Object* object, int key, void* value) {
    Object::accessor place;
    object->insert(place, key);
    place->second = value;
    return true;
  }
  static bool erase(Object* object, int key) { return object->erase(key); }
  static bool dup_free(Object* object) {
    const Object copy(*object);
    return !copy.empty();
  }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<TbbHashMap>("tbb_concurrent_hash_map");
}
