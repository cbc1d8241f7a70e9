// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// An array of pointers, indexed by the key, in a shared library. It checks nothing, can't grow and
// has no callbacks, so it shows the least that any contender in a library can cost.

#ifndef BENCH_CONTENDERS_RAW_ARRAY_LIBRARY_H_
#define BENCH_CONTENDERS_RAW_ARRAY_LIBRARY_H_

namespace bench {

struct RawArray {
  static constexpr int kKeys = 128;
  void* volatile values[kKeys] = {};
};

}  // namespace bench

extern "C" {
[[gnu::visibility("default")]] bool raw_array_get(bench::RawArray* array, int key, void** value);
[[gnu::visibility("default")]] bool raw_array_set(bench::RawArray* array, int key, void* value);
}

#endif  // BENCH_CONTENDERS_RAW_ARRAY_LIBRARY_H_
