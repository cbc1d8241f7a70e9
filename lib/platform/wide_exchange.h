// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// 16 bytes compared and exchanged, or loaded, in one step, where the processor can: all assembly
// and builtins for that are here. Loads acquire; exchanges acquire and release, and acquire when
// they fail, which updates what was expected.

#ifndef ATTRCACHE_PLATFORM_WIDE_EXCHANGE_H_
#define ATTRCACHE_PLATFORM_WIDE_EXCHANGE_H_

#include <cstdint>

#include "platform/slot_content.h"

namespace attrcache {

#if defined(ATTRCACHE_PAIR_TWO_WORDS)
// The build wants neither.
#elif defined(__x86_64__)
#define ATTRCACHE_HAS_WIDE_EXCHANGE 1

template <typename Pair>
[[gnu::always_inline]] inline bool wide_compare_exchange(Pair& pair, SlotContent& expected,
                                                         SlotContent desired) {
  bool done;
  asm volatile("lock cmpxchg16b %1"
               : "=@ccz"(done), "+m"(pair), "+a"(expected.value), "+d"(expected.meta)
               : "b"(desired.value), "c"(desired.meta)
               : "memory");
  return done;
}

#ifndef ATTRCACHE_PAIR_TWO_STEP
#define ATTRCACHE_HAS_WIDE_LOAD 1
// An aligned 16-byte SSE load is single-copy atomic on every processor with AVX (Intel SDM vol. 3A
// 9.1.1; AMD APM vol. 2 7.3.2), and pair_supported() asks for AVX. Other x86-64 processors would
// load 16 bytes by cmpxchg16b, which writes, and makes a get cost fourfold. All loads acquire.
template <typename Pair>
[[gnu::always_inline]] inline SlotContent wide_load(const Pair& pair) {
  uint64_t __attribute__((vector_size(16))) both;
  asm volatile("movdqa %1, %0" : "=x"(both) : "m"(pair) : "memory");
  return {both[0], both[1]};
}
#endif

#elif defined(__aarch64__)
#define ATTRCACHE_HAS_WIDE_EXCHANGE 1

// What ldaxp reads is known to be of one instant only if the store succeeds, so an exchange that
// fails stores back what it read.
template <typename Pair>
[[gnu::always_inline]] inline bool wide_compare_exchange(Pair& pair, SlotContent& expected,
                                                         SlotContent desired) {
  SlotContent now, next;
  uint32_t failed;
  asm volatile(
      "1: ldaxp %0, %1, %5\n\t"
      "cmp %0, %6\n\t"
      "ccmp %1, %7, #0, eq\n\t"
      "csel %2, %8, %0, eq\n\t"
      "csel %3, %9, %1, eq\n\t"
      "stlxp %w4, %2, %3, %5\n\t"
      "cbnz %w4, 1b"
      : "=&r"(now.value), "=&r"(now.meta), "=&r"(next.value), "=&r"(next.meta), "=&r"(failed),
        "+Q"(pair)
      : "r"(expected.value), "r"(expected.meta), "r"(desired.value), "r"(desired.meta)
      : "cc", "memory");
  const bool same = now.value == expected.value && now.meta == expected.meta;
  expected = now;
  return same;
}

#ifdef ATTRCACHE_LSE2
#define ATTRCACHE_HAS_WIDE_LOAD 1
// One LDP, which is single-copy atomic for aligned 16 bytes on processors with FEAT_LSE2 (ARMv8.4;
// Arm ARM B2.2.1).
template <typename Pair>
[[gnu::always_inline]] inline SlotContent wide_load(const Pair& pair) {
  SlotContent content;
  asm volatile("ldp %0, %1, %2\n\tdmb ishld"
               : "=&r"(content.value), "=&r"(content.meta)
               : "Q"(pair)
               : "memory");
  return content;
}
#endif

#elif defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
#define ATTRCACHE_HAS_WIDE_EXCHANGE 1
// The compiler has an instruction for it, or a loop of few: lqarx and stqcx. on POWER8 and later,
// cdsg on s390x.

__extension__ typedef unsigned __int128 Wide;

constexpr Wide wide(SlotContent content) { return __builtin_bit_cast(Wide, content); }
constexpr SlotContent narrow(Wide wide) { return __builtin_bit_cast(SlotContent, wide); }

template <typename Pair>
[[gnu::always_inline]] inline bool wide_compare_exchange(Pair& pair, SlotContent& expected,
                                                         SlotContent desired) {
  Wide now = wide(expected);
#ifdef __s390x__
  // g++ calls libatomic, because it aligns its own 16-byte integers to 8.
  const Wide before = now;
  asm volatile("cdsg %0, %2, %1" : "+d"(now), "+S"(pair) : "d"(wide(desired)) : "cc", "memory");
  const bool done = now == before;
#else
  typedef Wide __attribute__((may_alias)) Aliased;
  const bool done =
      __atomic_compare_exchange_n(reinterpret_cast<Aliased*>(&pair), &now, wide(desired), false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
#endif
  if (!done) expected = narrow(now);
  return done;
}

#ifdef __s390x__
#define ATTRCACHE_HAS_WIDE_LOAD 1
// LPQ of an aligned quadword is block-concurrent (Principles of Operation, "Load Pair from
// Quadword"). All loads acquire on this processor.
template <typename Pair>
[[gnu::always_inline]] inline SlotContent wide_load(const Pair& pair) {
  Wide both;
  asm volatile("lpq %0, %1" : "=d"(both) : "T"(pair) : "memory");
  return narrow(both);
}
#endif

#endif

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_WIDE_EXCHANGE_H_
