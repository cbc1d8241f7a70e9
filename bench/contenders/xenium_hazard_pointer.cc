// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// xenium's hazard pointers.

#include <xenium/reclamation/hazard_pointer.hpp>

#include "bench/contenders/holding.h"

namespace {

using Reclaimer = xenium::reclamation::hazard_pointer<>;

struct Node : Reclaimer::enable_concurrent_ptr<Node> {
  explicit Node(void* value) : value(value) {}
  void* value;
};

struct Cell {
  using Pointer = Reclaimer::concurrent_ptr<Node>;
  Pointer pointer;

  // By one thread, while no other one uses it: all that is measured is borrow.
  void set(void* value) {
    delete pointer.load(std::memory_order_relaxed).get();
    pointer.store(new Node(value), std::memory_order_release);
  }
  void* borrow() {
    Pointer::guard_ptr held;
    held.acquire(pointer, std::memory_order_acquire);
    return held->value;
  }
  ~Cell() { delete pointer.load(std::memory_order_relaxed).get(); }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<Holding<Cell>>("xenium_hazard_pointer", {.keyvals = 64});
}
