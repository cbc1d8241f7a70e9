// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions that raw_array_shared.cc calls, in a shared library.

#include "bench/contenders/raw_array_library.h"

bool raw_array_get(bench::RawArray* array, int key, void** value) {
  *value = array->values[key];
  return *value != nullptr;
}

bool raw_array_set(bench::RawArray* array, int key, void* value) {
  array->values[key] = value;
  return true;
}
