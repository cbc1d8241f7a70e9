// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The only file of the library that makes atomic accesses other than those of 16 bytes; a test sees
// to that. So test builds can put something else under the code that ships, such as an explorer of
// interleavings or random delays between the steps: -DATTRCACHE_ATOMIC_HEADER names a header that
// defines attrcache::Atomic, with the orders of std::memory_order.
//
// The library uses only loads, stores and read-modify-writes with an explicit order, and one kind
// of fence, for readers (asymmetric_fence.h). The parts of std::atomic that it needs are built here
// from the same compiler built-ins, because that calls the C++ runtime from g++ 15 on, if nothing
// is optimized, and takes longer to compile than most of the library's files.

#ifndef ATTRCACHE_PLATFORM_ATOMIC_H_
#define ATTRCACHE_PLATFORM_ATOMIC_H_

#ifdef ATTRCACHE_ATOMIC_HEADER

#include <atomic>

#include ATTRCACHE_ATOMIC_HEADER

namespace attrcache {
using Order = std::memory_order;
inline constexpr Order kRelaxed = std::memory_order_relaxed;
inline constexpr Order kAcquire = std::memory_order_acquire;
inline constexpr Order kRelease = std::memory_order_release;
inline constexpr Order kAcqRel = std::memory_order_acq_rel;
inline constexpr Order kSeqCst = std::memory_order_seq_cst;
#ifdef ATTRCACHE_MODEL
void full_fence();
#else
inline void full_fence() { std::atomic_thread_fence(kSeqCst); }
#endif
}  // namespace attrcache

#else

#include <cstdint>

namespace attrcache {

enum Order : int {
  kRelaxed = __ATOMIC_RELAXED,
  kAcquire = __ATOMIC_ACQUIRE,
  kRelease = __ATOMIC_RELEASE,
  kAcqRel = __ATOMIC_ACQ_REL,
  kSeqCst = __ATOMIC_SEQ_CST,
};

// For types of 1, 2, 4 or 8 bytes that may be copied as bytes and have no padding. Everything is
// inlined, so that the compiler sees the order, and takes it for a constant, before it judges what
// to inline.
template <typename T>
class Atomic {
  static_assert(__is_trivially_copyable(T) && (sizeof(T) & (sizeof(T) - 1)) == 0);

 public:
  constexpr Atomic() : value_{} {}
  constexpr Atomic(T value) : value_(value) {}  // NOLINT: implicit, as std::atomic's is
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  [[gnu::always_inline]] T load(Order order) const {
    T value;
    __atomic_load(&value_, &value, order);
    return value;
  }
  // For 8 bytes: load(order) == value, and (load(order) & kBit) != 0, by one instruction where
  // compilers would take two. They load an atomic into a register, and compare or test that.
#ifdef __x86_64__
  [[gnu::always_inline]] bool equals(uint64_t value, Order) const {
    static_assert(sizeof(T) == 8);
    bool equal;
    asm volatile("cmpq %2, %1" : "=@cce"(equal) : "m"(value_), "re"(value) : "memory");
    return equal;
  }
  template <uint64_t kBit>
  [[gnu::always_inline]] bool has(Order) const {
    static_assert(sizeof(T) == 8);
    bool set;
    asm volatile("btq %2, %1" : "=@ccc"(set) : "m"(value_), "i"(__builtin_ctzll(kBit)) : "memory");
    return set;
  }
#else
  bool equals(uint64_t value, Order order) const { return load(order) == value; }
  template <uint64_t kBit>
  bool has(Order order) const {
    return (load(order) & kBit) != 0;
  }
#endif
  [[gnu::always_inline]] void store(T value, Order order) {
    __atomic_store(&value_, &value, order);
  }
  [[gnu::always_inline]] T exchange(T value, Order order) {
    T old;
    __atomic_exchange(&value_, &value, &old, order);
    return old;
  }
  [[gnu::always_inline]] T fetch_add(T value, Order order) {
    return __atomic_fetch_add(&value_, value, order);
  }
  [[gnu::always_inline]] T fetch_sub(T value, Order order) {
    return __atomic_fetch_sub(&value_, value, order);
  }
  [[gnu::always_inline]] T fetch_or(T value, Order order) {
    return __atomic_fetch_or(&value_, value, order);
  }
  [[gnu::always_inline]] T fetch_and(T value, Order order) {
    return __atomic_fetch_and(&value_, value, order);
  }
  // If the value isn't `expected`, it is stored in `expected`.
  [[gnu::always_inline]] bool compare_exchange_strong(T& expected, T desired, Order success,
                                                      Order failure) {
    return __atomic_compare_exchange(&value_, &expected, &desired, false, success, failure);
  }
  [[gnu::always_inline]] bool compare_exchange_weak(T& expected, T desired, Order success,
                                                    Order failure) {
    return __atomic_compare_exchange(&value_, &expected, &desired, true, success, failure);
  }

 private:
  // As aligned as it is large: on 32-bit processors, uint64_t as a member may be aligned to less.
  alignas(sizeof(T)) T value_;
};

// A full fence of the calling thread. ThreadSanitizer doesn't model fences, and g++ warns of that.
// It need not: what was stored before a fence is acquired by the threads that read it.
inline void full_fence() {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

}  // namespace attrcache

#endif

#endif  // ATTRCACHE_PLATFORM_ATOMIC_H_
