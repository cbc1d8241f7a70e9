// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Pair where the processor exchanges 16 bytes in one step. It loads them in one step, too, if it
// can; then get is wait-free. If not, it reads meta, value, and meta again (two_step_load.h); a
// reader may then have to look again while others write, so get is lock-free.
//
// ThreadSanitizer can't see what a step in assembly hands over from one thread to another, so it is
// told (tsan_acquire, tsan_release). For it the address of meta stands for the whole Pair.

#ifndef ATTRCACHE_PLATFORM_PAIR_ONE_SWAP_H_
#define ATTRCACHE_PLATFORM_PAIR_ONE_SWAP_H_

#include "platform/atomic.h"
#include "platform/slot_content.h"
#include "platform/supported.h"
#include "platform/two_step_load.h"
#include "platform/wide_exchange.h"

#ifdef ATTRCACHE_TSAN
// Its runtime's own (sanitizer/tsan_interface.h), by which an address stands for what is handed
// over: the same as for an atomic access of that address.
extern "C" __attribute__((visibility("default"))) void __tsan_acquire(void* address);
extern "C" __attribute__((visibility("default"))) void __tsan_release(void* address);
#endif

namespace attrcache {

// Call this after a step that acquires.
[[gnu::always_inline]] inline void tsan_acquire([[maybe_unused]] const void* address) {
#ifdef ATTRCACHE_TSAN
  __tsan_acquire(const_cast<void*>(address));
#endif
}

// Call this before a step that releases: after it, another thread may already have acquired. If the
// step fails, too much is handed over, which may hide a race, and never makes one up.
[[gnu::always_inline]] inline void tsan_release([[maybe_unused]] const void* address) {
#ifdef ATTRCACHE_TSAN
  __tsan_release(const_cast<void*>(address));
#endif
}

class alignas(16) Pair {
 public:
  SlotContent load() const {
#ifdef ATTRCACHE_HAS_WIDE_LOAD
    const SlotContent content = wide_load(*this);
    tsan_acquire(&meta_);
    return content;
#else
    return two_step_load(value_, meta_);
#endif
  }
  SlotContent peek() const { return load(); }

  uint64_t load_meta() const { return meta_.load(kAcquire); }  // pairs with every exchange

  bool still(uint64_t meta, uint64_t* value) const {
    *value = value_.load(kAcquire);  // pairs with compare_exchange
    const bool same = meta_.equals(meta, kAcquire);
    tsan_acquire(&meta_);
    return same;
  }

  bool compare_exchange(SlotContent& expected, SlotContent desired) {
    tsan_release(&meta_);
    const bool done = wide_compare_exchange(*this, expected, desired);
    tsan_acquire(&meta_);
    return done;
  }

  bool compare_exchange_meta(uint64_t& expected, uint64_t desired) {
    return meta_.compare_exchange_strong(expected, desired, kAcqRel, kAcquire);
  }

  template <typename Words>
  static bool exchange_second(Words& words, SlotContent expected, uint64_t second) {
    const bool done = wide_compare_exchange(words, expected, {expected.value, second});
    tsan_acquire(&words);
    return done;
  }

  void store_unshared(SlotContent content) {
    value_.store(content.value, kRelaxed);
    meta_.store(content.meta, kRelaxed);
  }
  void clear_unshared() { meta_.store(0, kRelaxed); }

  const uint64_t* value_address() const { return reinterpret_cast<const uint64_t*>(&value_); }

 private:
  Atomic<uint64_t> value_{0};
  Atomic<uint64_t> meta_{0};
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_PAIR_ONE_SWAP_H_
