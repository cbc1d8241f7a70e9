// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The Pair for processors that exchange no more than 8 bytes in one step (riscv64, and all with 32
// bits), and for soak tests, which put delays between its steps. Both halves are 8-byte atomics.
//
//   compare_exchange  makes meta busy, then changes value, then meta to desired
//   load              reads meta, value, and meta again (two_step_load.h), until meta isn't busy
//   peek              the same, but it goes on from most busy metas
//
// A thread that finds meta busy waits for the thread that made it so, which needs only two more
// stores, but may have been preempted, even by the one that waits: hence Backoff. It can't help: a
// value fills all 8 bytes that can be exchanged at once, so a helper's late store would overwrite a
// newer value unnoticed. Only peek is lock-free, as long as no meta is kBusy (below). get can use
// it, because it needs less than a load gives.
//
// There are two ways of being busy. Usually meta stays as it was, except that kChanging is added to
// it. A reader then takes it for the old meta, and finds the old value or already the new one:
//   - If the old meta is invisible, the reader finds no attribute, as before the exchange.
//   - If it is visible, the new value is of the same attribute, because a visible value is only
//     ever replaced (S2, S6, S7, S11 in table/slot.h). For a reader that finds the new value, the
//     exchange has taken effect when the value was stored. All others agree: from then on they find
//     the new value, too, or wait. The old tag is right for the new value if both have the same.
// But a visible value may be replaced by one with another tag, an Aint over a C pointer, say. Then
// meta is kBusy, which says nothing, and readers wait as well. (Reading on would be wrong even
// where a pointer replaces an Aint. A Fortran reader, which needs no tag, could find the new value,
// and a C reader after it would still give the address of an Aint.)

#ifndef ATTRCACHE_PLATFORM_PAIR_TWO_WORDS_H_
#define ATTRCACHE_PLATFORM_PAIR_TWO_WORDS_H_

#include <cstdint>

#include "platform/atomic.h"
#include "platform/slot_content.h"
#include "platform/two_step_load.h"
#include "platform/wait.h"

namespace attrcache {

class alignas(16) TwoWordPair {
 public:
  SlotContent load() const {
    Backoff backoff;
    for (;;) {
      const SlotContent content = two_step_load(value_, meta_);
      if (!is_busy(content.meta)) return content;
      backoff.relax();
    }
  }
  SlotContent peek() const {
    Backoff backoff;
    for (;;) {
      const SlotContent content = two_step_load(value_, meta_);
      if (content.meta != kBusy) return {content.value, content.meta & ~pair_bits::kChanging};
      backoff.relax();
    }
  }
  uint64_t load_meta() const { return load().meta; }
  bool still(uint64_t meta, uint64_t* value) const {
    const SlotContent content = load();
    *value = content.value;
    return content.meta == meta;
  }
  bool compare_exchange(SlotContent& expected, SlotContent desired) {
    for (;;) {
      const SlotContent now = load();
      if (now.value != expected.value || now.meta != expected.meta) {
        expected = now;
        return false;
      }
      uint64_t meta = now.meta;
      const uint64_t changing = busy(meta, desired.meta);
      // Acquire, so that the next load sees the latest value: a value may have been replaced under
      // the same meta. It need not release: what a reader that goes on from `changing` must see was
      // released by the store of the old meta, whose release sequence this continues. It may be
      // relaxed when it fails, because the loop loads again.
      if (!meta_.compare_exchange_weak(meta, changing, kAcquire, kRelaxed)) continue;
      const bool same = value_.load(kRelaxed) == expected.value;  // nobody else stores now
      // Release: a reader of this value then finds `changing` in meta, or what comes after it. It
      // also sees what the value points to, although the exchange has not ended.
      if (same) value_.store(desired.value, kRelease);
      // Release: a reader of this meta then finds this value, or a later one.
      meta_.store(same ? desired.meta : expected.meta, kRelease);
      if (same) return true;
    }
  }
  bool compare_exchange_meta(uint64_t& expected, uint64_t desired) {
    for (;;) {
      uint64_t now = expected;
      // The same orders as the real Pair's: it acquires and releases, and acquires if it fails.
      if (meta_.compare_exchange_weak(now, desired, kAcqRel, kAcquire)) return true;
      if (is_busy(now)) now = load_meta();
      if (now != expected) {
        expected = now;
        return false;
      }
    }
  }
  // In steps of 8 bytes it can only look at both words again. Each may have changed in between, and
  // changed back; and if only the first isn't as expected, the second is exchanged all the same.
  template <typename Words>
  static bool exchange_second(Words& words, SlotContent expected, uint64_t second) {
    auto* const word = reinterpret_cast<Atomic<uint64_t>*>(&words);
    return word[1].compare_exchange_strong(expected.meta, second, kAcqRel, kAcquire) &&
           word[0].load(kAcquire) == expected.value && word[1].load(kAcquire) == second;
  }
  void store_unshared(SlotContent content) {
    value_.store(content.value, kRelaxed);
    meta_.store(content.meta, kRelaxed);
  }
  void clear_unshared() { meta_.store(0, kRelaxed); }
  const uint64_t* value_address() const { return reinterpret_cast<const uint64_t*>(&value_); }

 private:
  static constexpr uint64_t kBusy = ~uint64_t{0};
  static constexpr bool is_busy(uint64_t meta) { return (meta & pair_bits::kChanging) != 0; }
  static constexpr uint64_t busy(uint64_t now, uint64_t desired) {
    const bool visible = (now & pair_bits::kVisible) != 0;
    const bool tagged_alike = ((now ^ desired) & pair_bits::kTag) == 0;
    return visible && !tagged_alike ? kBusy : now | pair_bits::kChanging;
  }

  Atomic<uint64_t> value_{0};
  Atomic<uint64_t> meta_{0};
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_PAIR_TWO_WORDS_H_
