// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The Pair of test builds: of soaks, which put delays between its steps, too, and of
// ThreadSanitizer builds. ThreadSanitizer can't see into inline assembly, and its runtime puts a
// lock around 16-byte atomics, which 8-byte atomics on the same words don't heed. Here both halves
// are 8-byte atomics, so ThreadSanitizer sees exactly the synchronization that the real Pairs have.
// Meta is `kBusy` while compare_exchange changes both halves.
//
//   compare_exchange  changes meta from expected to kBusy, then value, then meta to desired
//   load              reads meta, value, and meta again (two_step_load.h), until meta isn't kBusy
//
// Whoever finds kBusy waits for the thread that stored it, so this Pair isn't lock-free.

#ifndef ATTRCACHE_PLATFORM_PAIR_TWO_WORDS_H_
#define ATTRCACHE_PLATFORM_PAIR_TWO_WORDS_H_

#include <cstdint>

#include "platform/atomic.h"
#include "platform/pair.h"
#include "platform/spin.h"
#include "platform/two_step_load.h"

namespace attrcache {

class alignas(16) TwoWordPair {
 public:
  SlotContent load() const {
    Spin spin;
    for (;;) {
      const SlotContent word = two_step_load(value_, meta_);
      if (word.meta != kBusy) return word;
      spin.wait();
    }
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
                 [word](TwoWordPair& to) { to.store_unshared(word); });
  }
  uint64_t load_meta() const {
    Spin spin;
    for (;;) {
      const uint64_t meta = meta_.load(kAcquire);  // pairs with every release of meta
      if (meta != kBusy) return meta;
      spin.wait();
    }
  }
  uint32_t load_upper() const { return static_cast<uint32_t>(load_meta() >> 32); }
  bool compare_exchange(SlotContent& expected, SlotContent desired) {
    for (;;) {
      const SlotContent now = load();
      if (now.value != expected.value || now.meta != expected.meta) {
        expected = now;
        return false;
      }
      uint64_t meta = now.meta;
      // Acquire, so that the next load sees the latest value: a value may have been replaced under
      // the same meta. It need not release, because nobody goes on from kBusy. It may be relaxed
      // when it fails, because the loop loads again.
      if (!meta_.compare_exchange_weak(meta, kBusy, kAcquire, kRelaxed)) continue;
      const bool same = value_.load(kRelaxed) == expected.value;  // kBusy is ours
      // Release: a reader of this value then finds kBusy in meta, or what comes after it.
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
      if (now == kBusy) now = load_meta();
      if (now != expected) {
        expected = now;
        return false;
      }
    }
  }
  uint64_t add_meta(uint64_t delta) {
    uint64_t now = load_meta();
    while (!compare_exchange_meta(now, now + delta)) {
    }
    return now;
  }
  void store_unshared(SlotContent word) {
    value_.store(word.value, kRelaxed);
    meta_.store(word.meta, kRelaxed);
  }
  void clear_unshared() { meta_.store(0, kRelaxed); }
  const uint64_t* value_address() const { return reinterpret_cast<const uint64_t*>(&value_); }
  const uint32_t* upper_half_of_meta() const {
    return reinterpret_cast<const uint32_t*>(&meta_) + 1;  // little-endian
  }

 private:
  static constexpr uint64_t kBusy = ~uint64_t{0};  // as a meta, it would say nonsense

  Atomic<uint64_t> value_{0};
  Atomic<uint64_t> meta_{0};
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_PAIR_TWO_WORDS_H_
