// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A std::atomic whose accesses the explorer sees. The object contains only the value; its history
// is kept elsewhere, by address. So zeroed memory is a valid Atomic that holds zero, as the code
// under test assumes.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_ATOMIC_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_ATOMIC_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/model/explorer/types.h"

namespace attrcache::model {

// What the engine does for each access of the code under test.
namespace access {
Bits load(Access access);
void store(Access access, Bits value);
Bits update(Access access, Update how, Bits operand);
bool swap(Access access, Bits& expected, Bits desired, Bits mask, std::memory_order failure);
// A compare-exchange of two locations of up to 8 bytes in one step, as by ldaxp and stlxp. Both
// locations are read, and both are written: with `desired` if they hold `expected`, otherwise with
// what they hold. `expected` then has what they held.
bool swap_both(Access low, Access high, Bits& expected, Bits desired);
}  // namespace access

template <typename T>
class Atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  using Order = std::memory_order;
  // Where in the code under test an access is, for the log.
#define ATTRCACHE_MODEL_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

 public:
  constexpr Atomic() : value_{} {}
  constexpr Atomic(T value) : value_(value) {}  // NOLINT: implicit, as std::atomic's is
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(Order order, ATTRCACHE_MODEL_SITE) const {
    return from(access::load(at(Kind::kLoad, order, file, line)));
  }
  bool equals(T value, Order order, ATTRCACHE_MODEL_SITE) const {
    return load(order, file, line) == value;
  }
  template <uint64_t kBit>
  bool has(Order order, ATTRCACHE_MODEL_SITE) const {
    return (load(order, file, line) & kBit) != 0;
  }
  void store(T value, Order order, ATTRCACHE_MODEL_SITE) {
    access::store(at(Kind::kStore, order, file, line), to(value));
  }
  T exchange(T value, Order order, ATTRCACHE_MODEL_SITE) {
    return update(Update::kExchange, to(value), order, file, line);
  }
  T fetch_add(T value, Order order, ATTRCACHE_MODEL_SITE) requires std::is_integral_v<T> {
    return update(Update::kAdd, {static_cast<uint64_t>(value), 0}, order, file, line);
  }
  T fetch_sub(T value, Order order, ATTRCACHE_MODEL_SITE) requires std::is_integral_v<T> {
    return update(Update::kAdd, {uint64_t{0} - static_cast<uint64_t>(value), 0}, order, file, line);
  }
  T fetch_or(T value, Order order, ATTRCACHE_MODEL_SITE) requires std::is_integral_v<T> {
    return update(Update::kOr, to(value), order, file, line);
  }
  T fetch_and(T value, Order order, ATTRCACHE_MODEL_SITE) requires std::is_integral_v<T> {
    return update(Update::kAnd, to(value), order, file, line);
  }
  bool compare_exchange_strong(T& expected, T desired, Order success, Order failure,
                               ATTRCACHE_MODEL_SITE) {
    Bits read = to(expected);
    const bool done = access::swap(at(Kind::kSwap, success, file, line), read, to(desired),
                                   {~uint64_t{0}, 0}, failure);
    if (!done) expected = from(read);
    return done;
  }
  // Unlike the real one, it never fails spuriously.
  bool compare_exchange_weak(T& expected, T desired, Order success, Order failure,
                             ATTRCACHE_MODEL_SITE) {
    return compare_exchange_strong(expected, desired, success, failure, file, line);
  }

 private:
  static Bits to(T value) {
    Bits bits;
    std::memcpy(&bits.lo, &value, sizeof(T));
    return bits;
  }
  static T from(Bits bits) {
    T value;
    std::memcpy(&value, &bits.lo, sizeof(T));
    return value;
  }
  Access at(Kind kind, Order order, const char* file, int line) const {
    return {const_cast<T*>(&value_), sizeof(T), kind, order, file, line};
  }
  T update(Update how, Bits operand, Order order, const char* file, int line) {
    return from(access::update(at(Kind::kUpdate, order, file, line), how, operand));
  }

  T value_;
};

}  // namespace attrcache::model

// What the library uses in a model build.
namespace attrcache {
template <typename T>
using Atomic = model::Atomic<T>;
}  // namespace attrcache

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_ATOMIC_H_
