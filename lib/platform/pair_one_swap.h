// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Pair where the processor exchanges 16 bytes in one step. It loads them in one step, too, if it
// can (wide_exchange.h): then get is wait-free. If not, it reads meta, value, and meta again
// (two_step_load.h); a reader may then have to look again while others write, so get is lock-free.

#ifndef ATTRCACHE_PLATFORM_PAIR_ONE_SWAP_H_
#define ATTRCACHE_PLATFORM_PAIR_ONE_SWAP_H_

#include "platform/byte_order.h"
#include "platform/slot_content.h"
#include "platform/two_step_load.h"
#include "platform/wide_exchange.h"

namespace attrcache {

class alignas(16) Pair {
 public:
#ifdef ATTRCACHE_HAS_WIDE_LOAD
  SlotContent load() const { return wide_load(*this); }
#else
  SlotContent load() const { return two_step_load(Half{value_}, Half{meta_}); }
#endif
  SlotContent peek() const { return load(); }

  template <typename Visit>
  auto glimpse(Visit visit) const {
    const SlotContent content = load();
    return visit(static_cast<uint32_t>(content.meta >> 32), [content] { return content.value; });
  }

  template <typename Visit>
  auto transfer(Visit visit) const {
    const SlotContent content = load();
    return visit(static_cast<uint32_t>(content.meta >> 32),
                 [content](Pair& to) { to.store_unshared(content); });
  }

  uint64_t load_meta() const { return __atomic_load_n(&meta_, __ATOMIC_ACQUIRE); }
  bool still(uint64_t meta, uint64_t* value) const {
    *value = __atomic_load_n(&value_, __ATOMIC_ACQUIRE);
    return load_meta() == meta;
  }
  uint32_t load_upper() const { return __atomic_load_n(upper_half(&meta_), __ATOMIC_ACQUIRE); }

  bool compare_exchange(SlotContent& expected, SlotContent desired) {
    return wide_compare_exchange(*this, expected, desired);
  }

  bool compare_exchange_meta(uint64_t& expected, uint64_t desired) {
    return __atomic_compare_exchange_n(&meta_, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
  }

  void store_unshared(SlotContent content) {
    value_ = content.value;
    meta_ = content.meta;
  }
  void clear_unshared() { meta_ = 0; }

  const uint64_t* value_address() const { return &value_; }

 private:
#ifndef ATTRCACHE_HAS_WIDE_LOAD
  // A word as two_step_load() reads it. The enumerators of std::memory_order are the numbers that
  // the builtin takes, in libstdc++ and libc++.
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

#endif  // ATTRCACHE_PLATFORM_PAIR_ONE_SWAP_H_
