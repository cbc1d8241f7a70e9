// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The Pair of AArch64. With -DATTRCACHE_LSE2, which needs a processor with FEAT_LSE2 (ARMv8.4),
// load is one LDP, which is single-copy atomic there for aligned 16 bytes (Arm ARM B2.2.1). Without
// it, load reads meta, value, and meta again (two_step_load.h). A reader then may have to try again
// while others write, so get is lock-free rather than wait-free.

#ifndef ATTRCACHE_PLATFORM_PAIR_ARM_H_
#define ATTRCACHE_PLATFORM_PAIR_ARM_H_

#include "platform/pair.h"
#include "platform/two_step_load.h"

namespace attrcache {

class alignas(16) Pair {
 public:
  SlotContent load() const {
#ifdef ATTRCACHE_LSE2
    SlotContent word;
    asm volatile("ldp %0, %1, %2\n\tdmb ishld"
                 : "=&r"(word.value), "=&r"(word.meta)
                 : "Q"(*this)
                 : "memory");
    return word;
#else
    return two_step_load(Half{value_}, Half{meta_});
#endif
  }

  template <typename Visit>
  auto glimpse(Visit visit) const {
    const SlotContent word = load();
    return visit(static_cast<uint32_t>(word.meta >> 32), [word] { return word.value; });
  }

  template <typename Visit>
  auto transfer(Visit visit) const {
    const SlotContent word = load();
    return visit(static_cast<uint32_t>(word.meta >> 32),
                 [word](Pair& to) { to.store_unshared(word); });
  }

  uint64_t load_meta() const { return __atomic_load_n(&meta_, __ATOMIC_ACQUIRE); }
  uint32_t load_upper() const { return __atomic_load_n(upper_half_of_meta(), __ATOMIC_ACQUIRE); }

  // The two words that ldaxp reads are known to be of one instant only if the store succeeds. So
  // where the comparison fails, this stores back what it read.
  bool compare_exchange(SlotContent& expected, SlotContent desired) {
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
          "+Q"(*this)
        : "r"(expected.value), "r"(expected.meta), "r"(desired.value), "r"(desired.meta)
        : "cc", "memory");
    const bool same = now.value == expected.value && now.meta == expected.meta;
    expected = now;
    return same;
  }

  bool compare_exchange_meta(uint64_t& expected, uint64_t desired) {
    return __atomic_compare_exchange_n(&meta_, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
  }

  uint64_t add_meta(uint64_t delta) { return __atomic_fetch_add(&meta_, delta, __ATOMIC_ACQ_REL); }

  void store_unshared(SlotContent word) {
    value_ = word.value;
    meta_ = word.meta;
  }
  void clear_unshared() { meta_ = 0; }

  const uint64_t* value_address() const { return &value_; }
  const uint32_t* upper_half_of_meta() const {
    return reinterpret_cast<const uint32_t*>(&meta_) + 1;  // little-endian
  }

 private:
#ifndef ATTRCACHE_LSE2
  // Gives two_step_load() a half of the Pair. The enumerators of std::memory_order are the numbers
  // that the builtin takes, both in libstdc++ and in libc++.
  struct Half {
    const uint64_t& word;
    uint64_t load(decltype(kAcquire) order) const {
      return __atomic_load_n(&word, static_cast<int>(order));
    }
  };
  static_assert(static_cast<int>(kRelaxed) == __ATOMIC_RELAXED &&
                static_cast<int>(kAcquire) == __ATOMIC_ACQUIRE);
#endif

  uint64_t value_ = 0;
  uint64_t meta_ = 0;
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_PAIR_ARM_H_
