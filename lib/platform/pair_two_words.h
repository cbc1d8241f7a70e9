// SPDX-License-Identifier: Apache-2.0
//
// Pair for soaks, which put delays between its steps too, and for builds under ThreadSanitizer,
// which can't see into inline assembly, and whose runtime puts a lock around 16-byte atomics that
// 8-byte ones on the same words pass by. Here both halves are plain 8-byte atomics, so it sees each
// edge that the real Pair has, and no other; meta is `kBusy` while swap changes both.
//
//   swap   meta: expected -> kBusy, value, meta: kBusy -> desired
//   load   meta, value, meta again: a value of the midst of a swap comes with another meta

#ifndef ATTRCACHE_PLATFORM_PAIR_TWO_WORDS_H_
#define ATTRCACHE_PLATFORM_PAIR_TWO_WORDS_H_

#include <cstdint>

#include "platform/atomic.h"
#include "platform/pair.h"

namespace attrcache {

class alignas(16) Pair {
 public:
  Word load() const {
    for (;;) {
      const uint64_t meta = load_meta();
      const uint64_t value = value_.load(kAcquire);
      if (meta_.load(kAcquire) == meta) return {value, meta};
    }
  }
  template <typename Visit>
  auto glimpse(Visit visit) const {
    const Word word = load();
    return visit(static_cast<uint32_t>(word.meta >> 32), [word] { return word.value; });
  }
  template <typename Visit>
  auto transfer(Visit visit) const {
    const Word word = load();
    return visit(static_cast<uint32_t>(word.meta >> 32), [word](Pair& to) { to.init(word); });
  }
  uint64_t load_meta() const {
    uint64_t meta;
    do meta = meta_.load(kAcquire);
    while (meta == kBusy);
    return meta;
  }
  uint32_t load_upper() const { return static_cast<uint32_t>(load_meta() >> 32); }
  bool swap(Word& expected, Word desired) {
    Word now = load();
    while (now.value == expected.value && now.meta == expected.meta) {
      if (meta_.compare_exchange_weak(now.meta, kBusy, kAcqRel, kAcquire)) {
        if (value_.load(kRelaxed) == expected.value) {
          value_.store(desired.value, kRelease);
          meta_.store(desired.meta, kRelease);
          return true;
        }
        meta_.store(expected.meta, kRelease);  // replaced since the load
      }
      now = load();
    }
    expected = now;
    return false;
  }
  bool swap_meta(uint64_t& expected, uint64_t desired) {
    uint64_t now = expected;
    while (!meta_.compare_exchange_weak(now, desired, kAcqRel, kAcquire)) {
      if (now == kBusy) now = load_meta();
      if (now == expected) continue;
      expected = now;
      return false;
    }
    return true;
  }
  uint64_t add_meta(uint64_t delta) {
    uint64_t now = load_meta();
    while (!swap_meta(now, now + delta)) {
    }
    return now;
  }
  void init(Word word) {
    value_.store(word.value, kRelaxed);
    meta_.store(word.meta, kRelaxed);
  }
  void empty() { meta_.store(0, kRelaxed); }
  const uint64_t* value_address() const { return reinterpret_cast<const uint64_t*>(&value_); }
  const uint32_t* upper_half_of_meta() const {
    return reinterpret_cast<const uint32_t*>(&meta_) + 1;  // little-endian
  }

 private:
  static constexpr uint64_t kBusy = ~uint64_t{0};  // no meta: nothing deleted is pinned

  Atomic<uint64_t> value_{0};
  Atomic<uint64_t> meta_{0};
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_PAIR_TWO_WORDS_H_
