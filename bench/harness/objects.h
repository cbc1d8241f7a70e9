// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A contender's objects with their attributes.

#ifndef BENCH_HARNESS_OBJECTS_H_
#define BENCH_HARNESS_OBJECTS_H_

#include <memory>
#include <vector>

#include "bench/harness/keys.h"

namespace bench {

template <Contends C>
class Objects {
 public:
  explicit Objects(long count) : objects_(new Padded[count]) {
    handles_.reserve(count);
    for (long o = 0; o < count; ++o) handles_.push_back(C::handle(objects_[o].object));
  }

  // Attaches a value to each object under each of `attributes` keys, from number `first` on.
  void attach(long first, long attributes) {
    const auto& keys = Keys<C>::at_least(first + attributes);
    for (long a = 0; a < attributes; ++a) {
      void* value = reinterpret_cast<void*>(0x10000 + 16 * a);
      for (auto& handle : handles_) require(C::set(handle, keys[first + a], value), "attach");
    }
  }

  const std::vector<typename C::Handle>& handles() const { return handles_; }

 private:
  // An object with a cache line of its own.
  struct alignas(64) Padded {
    typename C::Object object;
  };
  std::unique_ptr<Padded[]> objects_;
  std::vector<typename C::Handle> handles_;
};

}  // namespace bench

#endif  // BENCH_HARNESS_OBJECTS_H_
