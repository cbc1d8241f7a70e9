// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A contender's object with its attributes, on cache lines of its own.

#ifndef BENCH_HARNESS_ATTACHED_H_
#define BENCH_HARNESS_ATTACHED_H_

#include "bench/harness/keys.h"

namespace bench {

template <Contends C>
class Attached {
 public:
  typename C::Handle handle() { return C::handle(object_); }

  // Attaches a value under each of `attributes` keys, from number `first` on.
  void attach(long first, long attributes) {
    const auto& keys = Keys<C>::at_least(first + attributes);
    for (long a = 0; a < attributes; ++a) {
      void* value = reinterpret_cast<void*>(0x10000 + 16 * a);
      require(C::set(handle(), keys[first + a], value), "attach");
    }
  }

 private:
  alignas(64) typename C::Object object_;
};

}  // namespace bench

#endif  // BENCH_HARNESS_ATTACHED_H_
