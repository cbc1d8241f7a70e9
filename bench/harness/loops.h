// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The measured loops. They do what a program that uses attributes would do, and nothing else. Each
// turn reads the object, the key and the value from volatile memory and uses the result, so that
// the compiler can neither move work out of the loop nor drop it, for any contender. A loop is
// compiled once per contender and never inlined.

#ifndef BENCH_HARNESS_LOOPS_H_
#define BENCH_HARNESS_LOOPS_H_

#include <cstdint>

#include "bench/harness/contender.h"

namespace bench {

// What the loops of one thread read and write. No other thread uses its cache lines, nor (hence
// 128) the lines that the processor fetches in pairs with them.
template <class C>
struct alignas(128) Inputs {
  Handle<C> volatile object;
  int volatile key;
  void* volatile value;
  uintptr_t volatile sum;
  const int* keys;
};

// Calls once(in, sum) this many times, or until it fails. The sum is stored, so that it has a use.
template <auto once, class C>
[[gnu::noinline]] bool repeat(Inputs<C>& in, long times) {
  uintptr_t sum = 0;
  for (; times != 0; --times) {
    if (!once(in, sum)) [[unlikely]]
      return false;
  }
  in.sum = sum;
  return true;
}

// What the measured operations do once.
template <class C>
struct Once {
  using In = Inputs<C>;
  [[gnu::always_inline]] static bool get(In& in, uintptr_t& sum) {
    void* value;
    if (!C::get(in.object, in.key, &value)) [[unlikely]]
      return false;
    sum += reinterpret_cast<uintptr_t>(value);
    return true;
  }
  [[gnu::always_inline]] static bool get_absent(In& in, uintptr_t&) {
    void* value;
    return !C::get(in.object, in.key, &value);
  }
  [[gnu::always_inline]] static bool borrow(In& in, uintptr_t& sum) {
    void* value;
    if (!C::borrow(in.object, in.key, &value)) [[unlikely]]
      return false;
    sum += reinterpret_cast<uintptr_t>(value);
    return true;
  }
  [[gnu::always_inline]] static bool set(In& in, uintptr_t&) {
    return C::set(in.object, in.key, in.value);
  }
  [[gnu::always_inline]] static bool set_delete(In& in, uintptr_t&) {
    if (!C::set(in.object, in.key, in.value)) [[unlikely]]
      return false;
    C::erase(in.object, in.key);  // finds nothing if another thread has deleted it before
    return true;
  }
  [[gnu::always_inline]] static bool if_absent(In& in, uintptr_t& sum) {
    void* present;
    if (C::set_if_absent(in.object, in.key, in.value, &present)) [[unlikely]]
      return false;
    sum += reinterpret_cast<uintptr_t>(present);
    return true;
  }
  [[gnu::always_inline]] static bool if_absent_delete(In& in, uintptr_t&) {
    void* present;
    C::set_if_absent(in.object, in.key, in.value, &present);
    C::erase(in.object, in.key);
    return true;
  }
  [[gnu::always_inline]] static bool create_free(In&, uintptr_t&) {
    int key;
    return C::create_key(&key) && C::free_key(&key);
  }
  // Makes an object, attaches this many values to it, and frees it.
  template <int attributes>
  [[gnu::always_inline]] static bool object(In& in, uintptr_t&) {
    typename C::Object object;
    asm volatile("" : : "r"(handle<C>(object)));  // so that the compiler can't leave it out
    for (int a = 0; a < attributes; ++a) {
      if (!C::set(handle<C>(object), in.keys[a], in.value)) [[unlikely]]
        return false;
    }
    return true;
  }
  [[gnu::always_inline]] static bool use(In& in, uintptr_t&) { return C::use(in.object); }
  [[gnu::always_inline]] static bool replace(In& in, uintptr_t&) { return C::replace(in.object); }
  [[gnu::always_inline]] static bool use_replace(In& in, uintptr_t&) {
    return C::use(in.object) && C::replace(in.object);
  }
  [[gnu::always_inline]] static bool dup_free(In& in, uintptr_t&) { return C::dup_free(in.object); }
};

}  // namespace bench

#endif  // BENCH_HARNESS_LOOPS_H_
