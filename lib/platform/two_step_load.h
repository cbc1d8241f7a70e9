// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How both halves of a Pair are read by 8-byte loads: meta, value, and meta again, until meta is
// the same before and after. Then value and meta were in the Pair together, at one instant between
// the first load and the last, provided that two rules are kept:
//
//   * A thread that changes both halves releases the value and the meta. So a thread that reads one
//     half of a change sees no older state of the other half.
//   * If meta changes and later gets back to what it was, the value is the same again, too. That
//     is, while another meta is there, the value changes only together with a meta that is new.
//
// Slots keep to the second rule, because each attachment has a sequence number of its own, and what
// changes a meta and restores it (a delete_fn that fails) doesn't change the value. A value
// may be replaced while meta stays the same all the time; then either value was there with that
// meta.
//
// The load is lock-free: a reader tries again only if a writer has made progress.

#ifndef ATTRCACHE_PLATFORM_TWO_STEP_LOAD_H_
#define ATTRCACHE_PLATFORM_TWO_STEP_LOAD_H_

#include "platform/atomic.h"
#include "platform/slot_content.h"

namespace attrcache {

[[gnu::always_inline]] inline SlotContent two_step_load(const Atomic<uint64_t>& value,
                                                        const Atomic<uint64_t>& meta) {
  SlotContent word;
  do {
    // Acquire: the value that is read next isn't older than this meta. Pairs with the release of
    // meta by compare_exchange.
    word.meta = meta.load(kAcquire);
    // Acquire: the second load of meta comes after it, and reads the meta that came with this value
    // or a later one. Pairs with the release of the value by compare_exchange.
    word.value = value.load(kAcquire);
    // Relaxed, because it is only compared: the first load has acquired what came with this meta.
  } while (meta.load(kRelaxed) != word.meta);
  return word;
}

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_TWO_STEP_LOAD_H_
