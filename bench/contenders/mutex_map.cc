// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "bench/contenders/locked_map.h"
#include "bench/harness/describe.h"

bench::Contender bench::make_contender(int*, char**) {
  return describe<LockedMap<std::mutex, std::lock_guard<std::mutex>>>("mutex_map");
}
