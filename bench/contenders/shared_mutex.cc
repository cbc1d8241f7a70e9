// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A shared mutex for each value.

#include <mutex>
#include <shared_mutex>

#include "bench/contenders/holding.h"

namespace {

struct Cell {
  std::shared_mutex mutex;
  void* value = nullptr;

  void set(void* replacing) {
    const std::lock_guard hold(mutex);
    value = replacing;
  }
  void* borrow() {
    const std::shared_lock hold(mutex);
    return value;
  }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<Holding<Cell>>("shared_mutex", {.keyvals = 64});
}
