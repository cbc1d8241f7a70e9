// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "bench/contenders/raw_array_library.h"
#include "bench/harness/describe.h"

namespace {

struct RawArrayShared {
  using Object = bench::RawArray;
  using Handle = Object*;
  using Key = int;

  static Handle handle(Object& object) { return &object; }
  static bool create_key(int* key) {
    static int next = 0;
    *key = next++;
    return *key < Object::kKeys;
  }
  static bool free_key(int*) { return true; }
  static bool get(Handle array, int key, void** value) { return raw_array_get(array, key, value); }
  static bool set(Handle array, int key, void* value) { return raw_array_set(array, key, value); }
  static bool erase(Handle array, int key) { return set(array, key, nullptr); }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<RawArrayShared>("raw_array_shared", {.keyvals = RawArray::kKeys});
}
