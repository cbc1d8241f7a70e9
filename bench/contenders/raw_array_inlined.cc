// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "bench/contenders/raw_array.h"
#include "bench/harness/describe.h"

namespace {

struct Inlined {
  static bool get(bench::RawArray* array, int key, void** value) { return array->get(key, value); }
  static bool set(bench::RawArray* array, int key, void* value) { return array->set(key, value); }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<RawArrayBy<Inlined>>("raw_array_inlined", {.keyvals = RawArray::kKeys});
}
