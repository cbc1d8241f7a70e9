// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The Pair of x86-64 with AVX. An aligned 16-byte SSE load is single-copy atomic on every processor
// with AVX (Intel SDM vol. 3A 9.1.1; AMD APM vol. 2 7.3.2), and pair_supported() asks for AVX.
// cmpxchg16b would load 16 bytes on all other processors, too, but it writes, and makes a get cost
// four times as much. For those there is pair_one_swap.h, by -DATTRCACHE_PAIR_TWO_STEP. All loads
// acquire on x86.

#ifndef ATTRCACHE_PLATFORM_PAIR_X86_H_
#define ATTRCACHE_PLATFORM_PAIR_X86_H_

#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include "platform/byte_order.h"
#include "platform/slot_content.h"
#include "platform/wide_exchange.h"

namespace attrcache {

class alignas(16) Pair {
 public:
  SlotContent load() const {
    const __m128i both = load_both();
    return {static_cast<uint64_t>(_mm_cvtsi128_si64(both)),
            static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(both, both)))};
  }

  SlotContent peek() const { return load(); }

  template <typename Visit>
  [[gnu::always_inline]] auto glimpse(Visit visit) const {
    const __m128i both = load_both();
    return visit(upper_of(both), [both] { return static_cast<uint64_t>(_mm_cvtsi128_si64(both)); });
  }

  template <typename Visit>
  [[gnu::always_inline]] auto transfer(Visit visit) const {
    const __m128i both = load_both();
    return visit(upper_of(both),
                 [both](Pair& to) { _mm_store_si128(reinterpret_cast<__m128i*>(&to), both); });
  }

  uint64_t load_meta() const { return __atomic_load_n(&meta_, __ATOMIC_ACQUIRE); }
  uint32_t load_upper() const { return __atomic_load_n(upper_half(&meta_), __ATOMIC_ACQUIRE); }

  bool still(uint64_t meta, uint64_t* value) const {
    *value = __atomic_load_n(&value_, __ATOMIC_ACQUIRE);
    // load_meta() == meta, by one instruction (as Atomic::equals_relaxed()).
    bool equal;
    asm volatile("cmpq %2, %1" : "=@cce"(equal) : "m"(meta_), "r"(meta) : "memory");
    return equal;
  }

  bool compare_exchange(SlotContent& expected, SlotContent desired) {
    return wide_compare_exchange(*this, expected, desired);
  }

  bool compare_exchange_meta(uint64_t& expected, uint64_t desired) {
    return __atomic_compare_exchange_n(&meta_, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
  }

  void store_unshared(SlotContent word) {
    value_ = word.value;
    meta_ = word.meta;
  }
  void clear_unshared() { meta_ = 0; }

  const uint64_t* value_address() const { return &value_; }

 private:
  [[gnu::always_inline]] static uint32_t upper_of(__m128i both) {
    uint32_t upper;
    asm("pextrd $3, %1, %0" : "=r"(upper) : "x"(both));  // SSE4.1, which AVX implies
    return upper;
  }
  [[gnu::always_inline]] __m128i load_both() const {
    __m128i both;
    asm volatile("movdqa %1, %0" : "=x"(both) : "m"(*this) : "memory");
    return both;
  }

  uint64_t value_ = 0;
  uint64_t meta_ = 0;
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_PAIR_X86_H_
