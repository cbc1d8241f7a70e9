// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <shared_mutex>

#include "bench/contenders/locked_map.h"
#include "bench/harness/describe.h"

bench::Contender bench::make_contender(int*, char**) {
  return describe<LockedMap<std::shared_mutex, std::shared_lock<std::shared_mutex>>>(
      "shared_mutex_map");
}
