// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The only file of the library that makes atomic accesses other than those of 16 bytes; a test sees
// to that. So test builds can put something else under the code that ships, such as an explorer of
// interleavings or random delays between the steps: -DATTRCACHE_ATOMIC_HEADER names a header that
// defines attrcache::Atomic, with the orders of std::memory_order.
//
// The library uses only loads, stores and read-modify-writes with an explicit order (the explorer's
// Atomic has no other), and one kind of fence, for readers (asymmetric_fence.h).

#ifndef ATTRCACHE_PLATFORM_ATOMIC_H_
#define ATTRCACHE_PLATFORM_ATOMIC_H_

#include <atomic>
#include <cstdint>

#ifdef ATTRCACHE_ATOMIC_HEADER
#include ATTRCACHE_ATOMIC_HEADER
#endif

namespace attrcache {

using Order = std::memory_order;
inline constexpr Order kRelaxed = std::memory_order_relaxed;
inline constexpr Order kAcquire = std::memory_order_acquire;
inline constexpr Order kRelease = std::memory_order_release;
inline constexpr Order kAcqRel = std::memory_order_acq_rel;
inline constexpr Order kSeqCst = std::memory_order_seq_cst;

#ifndef ATTRCACHE_ATOMIC_HEADER
// All-zero bytes are one that holds zero.
template <typename T>
class Atomic : public std::atomic<T> {
 public:
  constexpr Atomic() : std::atomic<T>(T{}) {}  // C++17's doesn't initialize
  using std::atomic<T>::atomic;

  // For 8 bytes: load(order) == value, and (load(order) & kBit) != 0, by one instruction where
  // compilers would take two. They load an atomic into a register, and compare or test that.
#ifdef __x86_64__
  [[gnu::always_inline]] bool equals(uint64_t value, Order) const {
    static_assert(sizeof(T) == 8);
    bool equal;
    asm volatile("cmpq %2, %1" : "=@cce"(equal) : "m"(*this), "re"(value) : "memory");
    return equal;
  }
  template <uint64_t kBit>
  [[gnu::always_inline]] bool has(Order) const {
    static_assert(sizeof(T) == 8);
    bool set;
    asm volatile("btq %2, %1" : "=@ccc"(set) : "m"(*this), "i"(__builtin_ctzll(kBit)) : "memory");
    return set;
  }
#else
  bool equals(uint64_t value, Order order) const { return this->load(order) == value; }
  template <uint64_t kBit>
  bool has(Order order) const {
    return (this->load(order) & kBit) != 0;
  }
#endif
};
#endif

#ifdef ATTRCACHE_MODEL
void full_fence();
#else
// A full fence of the calling thread. ThreadSanitizer doesn't model fences, and g++ warns of that.
// It need not: what was stored before a fence is acquired by the threads that read it.
inline void full_fence() {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
  std::atomic_thread_fence(kSeqCst);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}
#endif

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_ATOMIC_H_
