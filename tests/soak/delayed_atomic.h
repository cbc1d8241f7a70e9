// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A std::atomic with random delays: before some of the accesses, the thread spins, yields, or
// sleeps for a moment. So other threads get in between any two steps of a protocol, even on a
// machine of few cores.

#ifndef ATTRCACHE_TESTS_SOAK_DELAYED_ATOMIC_H_
#define ATTRCACHE_TESTS_SOAK_DELAYED_ATOMIC_H_

#include <atomic>

namespace attrcache::soak {

void maybe_delay();

template <typename T>
class DelayedAtomic {
  using Order = std::memory_order;

 public:
  constexpr DelayedAtomic() : value_{} {}
  constexpr DelayedAtomic(T value) : value_(value) {}  // NOLINT: implicit, as std::atomic's is

  T load(Order order) const { return delayed().load(order); }
  bool equals_relaxed(T value) const { return load(std::memory_order_relaxed) == value; }
  void store(T value, Order order) { delayed().store(value, order); }
  T exchange(T value, Order order) { return delayed().exchange(value, order); }
  T fetch_add(T value, Order order) { return delayed().fetch_add(value, order); }
  T fetch_sub(T value, Order order) { return delayed().fetch_sub(value, order); }
  T fetch_or(T value, Order order) { return delayed().fetch_or(value, order); }
  T fetch_and(T value, Order order) { return delayed().fetch_and(value, order); }
  bool compare_exchange_strong(T& expected, T desired, Order success, Order failure) {
    return delayed().compare_exchange_strong(expected, desired, success, failure);
  }
  bool compare_exchange_weak(T& expected, T desired, Order success, Order failure) {
    return delayed().compare_exchange_weak(expected, desired, success, failure);
  }

 private:
  std::atomic<T>& delayed() {
    maybe_delay();
    return value_;
  }
  const std::atomic<T>& delayed() const {
    maybe_delay();
    return value_;
  }

  std::atomic<T> value_;
};

}  // namespace attrcache::soak

// What the library uses in a soak.
namespace attrcache {
template <typename T>
using Atomic = soak::DelayedAtomic<T>;
}  // namespace attrcache

#endif  // ATTRCACHE_TESTS_SOAK_DELAYED_ATOMIC_H_
