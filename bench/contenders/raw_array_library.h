// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef BENCH_CONTENDERS_RAW_ARRAY_LIBRARY_H_
#define BENCH_CONTENDERS_RAW_ARRAY_LIBRARY_H_

#include "bench/contenders/raw_array.h"

extern "C" {
[[gnu::visibility("default")]] bool raw_array_get(bench::RawArray* array, int key, void** value);
[[gnu::visibility("default")]] bool raw_array_set(bench::RawArray* array, int key, void* value);
}

#endif  // BENCH_CONTENDERS_RAW_ARRAY_LIBRARY_H_
