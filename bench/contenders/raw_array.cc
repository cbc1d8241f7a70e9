// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// An array of pointers, indexed by the key, behind calls. It checks nothing, can't grow and has no
// callbacks, so it shows the least that any contender that is called can cost.

#include "bench/harness/describe.h"

namespace {

struct RawArray : bench::CountedKeys {
  static constexpr int kKeys = 128;
  struct Object {
    void* volatile values[kKeys] = {};
  };

  [[gnu::noinline]] static bool get(Object* object, int key, void** value) {
    *value = object->values[key];
    return *value != nullptr;
  }
  [[gnu::noinline]] static bool set(Object* object, int key, void* value) {
    object->values[key] = value;
    return true;
  }
  static bool erase(Object* object, int key) { return set(object, key, nullptr); }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) { return describe<RawArray>("raw_array"); }
