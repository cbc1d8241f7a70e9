// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How both halves of a Pair are read by 8-byte loads: meta, value, and meta again, until meta is
// the same before and after.
//
// The value that is read was then in the Pair together with that meta, at one instant between the
// first look and the last, provided that
//
//   * whoever changes both halves releases the value and the meta, so that who reads either half
//     of a change sees no older state of the other one; and
//   * a meta that returns finds the value with which it went: while another meta stands there, the
//     value changes only together with a meta that was never there before.
//
// Slots keep to the second rule, because each attachment has a number of its own: what leaves a meta
// and comes back to it (pins, a delete_fn that fails) leaves the value alone. A value that is
// replaced under the very same meta is within the rule too: either value was there with that meta.
//
// Lock-free: a reader looks again only where a writer has gone on.

#ifndef ATTRCACHE_PLATFORM_TWO_STEP_LOAD_H_
#define ATTRCACHE_PLATFORM_TWO_STEP_LOAD_H_

#include "platform/atomic.h"
#include "platform/pair.h"

namespace attrcache {

// `Half` has load(order), as an Atomic<uint64_t> does.
template <typename Half>
[[gnu::always_inline]] inline SlotContent two_step_load(const Half& value, const Half& meta) {
  SlotContent word;
  do {
    // Acquire: the value isn't older than this meta. Pairs with the release of meta by a swap.
    word.meta = meta.load(kAcquire);
    // Acquire: the second look at meta comes after it, and sees the meta that came with this value
    // or a later one. Pairs with the release of the value by a swap.
    word.value = value.load(kAcquire);
    // Relaxed: only compared. What it tells of, the first look has acquired.
  } while (meta.load(kRelaxed) != word.meta);
  return word;
}

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_TWO_STEP_LOAD_H_
