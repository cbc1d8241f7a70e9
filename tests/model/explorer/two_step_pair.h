// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The Pair that loads in two steps and exchanges in one (lib/platform/pair_one_swap.h) as the
// explorer sees it: two locations of 8 bytes. Its load is the two_step_load() that ships. Its
// compare_exchange, which there is assembly, is one step here that reads and writes both locations,
// also if it fails.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_TWO_STEP_PAIR_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_TWO_STEP_PAIR_H_

#include <cstdint>

#include "platform/two_step_load.h"
#include "tests/model/explorer/atomic.h"

namespace attrcache::model {

class alignas(16) TwoStepPair {
 public:
  SlotContent load() const { return two_step_load(value_, meta_); }
  SlotContent peek() const { return load(); }
  uint64_t load_meta() const { return meta_.load(kAcquire); }
  bool compare_exchange(SlotContent& expected, SlotContent desired) {
    Bits read = {expected.value, expected.meta};
    // ldaxp acquires, stlxp releases.
    const bool done = access::swap_both(at(&value_, kAcqRel), at(&meta_, kAcqRel), read,
                                        {desired.value, desired.meta});
    expected = {read.lo, read.hi};
    return done;
  }
  bool compare_exchange_meta(uint64_t& expected, uint64_t desired) {
    return meta_.compare_exchange_strong(expected, desired, kAcqRel, kAcquire);
  }
  void store_unshared(SlotContent word) {
    value_.store(word.value, kRelaxed);
    meta_.store(word.meta, kRelaxed);
  }

 private:
  static Access at(void* half, std::memory_order order, ATTRCACHE_MODEL_SITE) {
    return {half, 8, Kind::kSwap, order, file, line};
  }

  Atomic<uint64_t> value_{0};
  Atomic<uint64_t> meta_{0};
};
static_assert(sizeof(TwoStepPair) == 16 && alignof(TwoStepPair) == 16);

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_TWO_STEP_PAIR_H_
