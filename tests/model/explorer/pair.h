// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The Pair of lib/platform/pair.h as the explorer sees it: one location of 16 bytes. Reading or
// exchanging the meta half alone counts as an access to the whole location. That is right, because
// processors keep overlapping accesses coherent.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_PAIR_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_PAIR_H_

#include <cstdint>

#include "tests/model/explorer/atomic.h"
#include "tests/model/explorer/explore.h"

namespace attrcache::model {

// The orders of the real Pair.
namespace pair_order {
inline constexpr auto kLoad = std::memory_order_acquire;
inline constexpr auto kUpdate = std::memory_order_acq_rel;
inline constexpr auto kFails = std::memory_order_acquire;
inline constexpr auto kInit = std::memory_order_relaxed;
}  // namespace pair_order

class alignas(16) Pair {
 public:
  SlotContent load(ATTRCACHE_MODEL_SITE) const {
    const Bits bits = access::load(at(Kind::kLoad, pair_order::kLoad, file, line));
    return {bits.lo, bits.hi};
  }
  SlotContent peek(ATTRCACHE_MODEL_SITE) const { return load(file, line); }
  uint64_t load_meta(ATTRCACHE_MODEL_SITE) const { return load(file, line).meta; }

  bool still(uint64_t meta, uint64_t* value, ATTRCACHE_MODEL_SITE) const {
    const SlotContent content = load(file, line);
    *value = content.value;
    return content.meta == meta;
  }

  bool compare_exchange(SlotContent& expected, SlotContent desired, ATTRCACHE_MODEL_SITE) {
    expect((expected.meta & pair_bits::kVisible) == 0 || (desired.meta & pair_bits::kVisible) != 0,
           "a visible value is only replaced by another, as pair_two_words.h relies on");
    Bits read = {expected.value, expected.meta};
    const bool done = access::swap(at(Kind::kSwap, pair_order::kUpdate, file, line), read,
                                   {desired.value, desired.meta}, {~uint64_t{0}, ~uint64_t{0}},
                                   pair_order::kFails);
    if (!done) expected = {read.lo, read.hi};
    return done;
  }
  bool compare_exchange_meta(uint64_t& expected, uint64_t desired, ATTRCACHE_MODEL_SITE) {
    Bits read = {0, expected};
    const bool done = access::swap(at(Kind::kSwap, pair_order::kUpdate, file, line), read,
                                   {0, desired}, {0, ~uint64_t{0}}, pair_order::kFails);
    if (!done) expected = read.hi;
    return done;
  }
  template <typename Words>
  static bool exchange_second(Words& words, SlotContent expected, uint64_t second,
                              ATTRCACHE_MODEL_SITE) {
    Access first = {&words, 8, Kind::kSwap, pair_order::kUpdate, file, line};
    Access other = first;
    other.address = reinterpret_cast<uint64_t*>(&words) + 1;
    Bits read = {expected.value, expected.meta};
    return access::swap_both(first, other, read, {expected.value, second});
  }
  // Relaxed, like plain stores: a thread that looks without having been handed the slot may see
  // what was there before.
  void store_unshared(SlotContent word, ATTRCACHE_MODEL_SITE) {
    access::store(at(Kind::kStore, pair_order::kInit, file, line), {word.value, word.meta});
  }
  void clear_unshared(ATTRCACHE_MODEL_SITE) { store_unshared({0, 0}, file, line); }
  const uint64_t* value_address() const { return &value_; }

 private:
  Access at(Kind kind, std::memory_order order, const char* file, int line) const {
    return {const_cast<Pair*>(this), 16, kind, order, file, line};
  }
  uint64_t value_ = 0;
  [[maybe_unused]] uint64_t meta_ = 0;  // accessed with value_, by address
};
static_assert(sizeof(Pair) == 16 && alignof(Pair) == 16);

}  // namespace attrcache::model

// What the library uses in a model build.
#define ATTRCACHE_PAIR "a model"
namespace attrcache {
using Pair = model::Pair;
}  // namespace attrcache

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_PAIR_H_
