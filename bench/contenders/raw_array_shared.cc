// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "bench/contenders/raw_array_library.h"
#include "bench/harness/describe.h"

namespace {

struct Shared {
  static bool get(bench::RawArray* array, int key, void** value) {
    return raw_array_get(array, key, value);
  }
  static bool set(bench::RawArray* array, int key, void* value) {
    return raw_array_set(array, key, value);
  }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<RawArrayBy<Shared>>("raw_array_shared", {.keyvals = RawArray::kKeys});
}
