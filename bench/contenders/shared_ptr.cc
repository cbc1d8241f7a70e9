// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// std::atomic<std::shared_ptr>, which counts the users of a value.

#include <atomic>
#include <memory>

#include "bench/contenders/holding.h"

namespace {

#ifdef __cpp_lib_atomic_shared_ptr
using Pointer = std::atomic<std::shared_ptr<void>>;
#else  // clang 14 doesn't get it from libstdc++ 12
struct Pointer {
  std::shared_ptr<void> pointer;
  std::shared_ptr<void> load() { return std::atomic_load(&pointer); }
  void store(std::shared_ptr<void> value) { std::atomic_store(&pointer, std::move(value)); }
};
#endif

struct Cell {
  struct Replaced {
    Pointer pointer;

    void replace() { pointer.store(std::shared_ptr<void>(bench::Used::make(), bench::Used::free)); }
    void use() { static_cast<const bench::Used*>(pointer.load().get())->check(); }
  };
  Pointer pointer;

  void set(void* value) {
    pointer.store(std::shared_ptr<void>(value, [](void*) {}));
  }
  void* borrow() { return pointer.load().get(); }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<Holding<Cell>>("atomic_shared_ptr");
}
