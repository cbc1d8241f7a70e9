// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A hazard pointer as one writes it by hand: published with a full exchange, so that a
// deleter needs no other barrier. It is the yardstick for borrow.

#include <atomic>

#include "bench/contenders/holding.h"

namespace {

struct alignas(64) Hazard {
  std::atomic<void*> pointer{nullptr};
};
constinit thread_local Hazard mine;

struct Cell {
  std::atomic<void*> value{nullptr};

  void set(void* replacing) { value.store(replacing, std::memory_order_release); }
  void* borrow() {
    void* seen = value.load(std::memory_order_relaxed);
    for (;;) {
      mine.pointer.exchange(seen, std::memory_order_seq_cst);
      void* const again = value.load(std::memory_order_acquire);
      if (again == seen) break;
      seen = again;
    }
    mine.pointer.store(nullptr, std::memory_order_release);
    return seen;
  }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<Holding<Cell>>("hazard_pointer", {.keyvals = 64});
}
