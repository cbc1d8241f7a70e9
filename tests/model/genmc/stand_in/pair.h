// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A Pair for GenMC, which has no accesses of 16 bytes: meta's upper half, 16 bits of its number,
// and 16 bits of the value in one word. The orders are those of pair.h.

#ifndef ATTRCACHE_TESTS_MODEL_GENMC_STAND_IN_PAIR_H_
#define ATTRCACHE_TESTS_MODEL_GENMC_STAND_IN_PAIR_H_

#include "platform/atomic.h"

#define ATTRCACHE_PAIR "a model"

namespace attrcache {

class alignas(16) Pair {
 public:
  SlotContent load() const { return content(word_.load(kAcquire)); }
  uint64_t load_meta() const { return load().meta; }
  uint32_t load_upper() const { return static_cast<uint32_t>(load().meta >> 32); }
  bool compare_exchange(SlotContent& expected, SlotContent desired) {
    uint64_t word = word_of(expected);
    const bool done = word_.compare_exchange_strong(word, word_of(desired), kAcqRel, kAcquire);
    expected = content(word);
    return done;
  }
  bool compare_exchange_meta(uint64_t& expected, uint64_t desired) {
    SlotContent now = load();
    while (now.meta == expected) {
      if (compare_exchange(now, {now.value, desired})) return true;
    }
    expected = now.meta;
    return false;
  }
  void store_unshared(SlotContent content) { word_.store(word_of(content), kRelaxed); }

 private:
  static constexpr uint64_t kLow = 0xffff;
  static constexpr uint64_t kUpper = ~uint64_t{0xffffffff};
  static SlotContent content(uint64_t word) {
    return {word & kLow, (word & kUpper) | (word >> 16 & kLow)};
  }
  static uint64_t word_of(SlotContent c) {
    return (c.meta & kUpper) | (c.meta & kLow) << 16 | (c.value & kLow);
  }

  Atomic<uint64_t> word_{0};
};

}  // namespace attrcache

#endif  // ATTRCACHE_TESTS_MODEL_GENMC_STAND_IN_PAIR_H_
