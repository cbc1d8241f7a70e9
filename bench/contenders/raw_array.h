// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// An array of pointers, indexed by the key. It checks nothing, can't grow and knows no callbacks,
// and so shows the least that any contender can cost.

#ifndef BENCH_CONTENDERS_RAW_ARRAY_H_
#define BENCH_CONTENDERS_RAW_ARRAY_H_

namespace bench {

struct RawArray {
  static constexpr int kKeys = 128;
  void* volatile values[kKeys] = {};

  bool get(int key, void** value) const {
    *value = values[key];
    return *value != nullptr;
  }
  bool set(int key, void* value) {
    values[key] = value;
    return true;
  }
};

// The contender. Access says how get and set are called.
template <class Access>
struct RawArrayBy : Access {
  using Object = RawArray;
  using Handle = RawArray*;
  using Key = int;
  static constexpr long kBytes = sizeof(RawArray);

  static Handle handle(Object& object) { return &object; }
  static bool create_key(int* key) {
    static int next = 0;
    *key = next++;
    return *key < RawArray::kKeys;
  }
  static bool free_key(int*) { return true; }
  static bool erase(Handle object, int key) { return Access::set(object, key, nullptr); }
};

}  // namespace bench

#endif  // BENCH_CONTENDERS_RAW_ARRAY_H_
