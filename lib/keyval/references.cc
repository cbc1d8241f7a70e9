// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/references.h"

namespace attrcache {

bool References::drop_exact() {
  // (R5) acq_rel: the thread that drops the last reference sees what all others did before they
  // dropped theirs.
  const uint64_t before = exact_.fetch_sub(kOneOfExact, kAcqRel);
  return ended(before - kOneOfExact);
}

void References::open(unsigned ordinal, stripe::Name name) {
  const uint32_t group = stripes_.group(ordinal);
  uint64_t word = exact_.load(kRelaxed);
  do {
    if ((word & (group | kClosed)) != 0) return;
    // (O1) Relaxed: the bit says only that this thread opens the group.
  } while (!exact_.compare_exchange_weak(word, word | group, kRelaxed, kRelaxed));
  stripes_.for_each_of(group, [this, name](Counter& stripe) {
    uint64_t old = stripe.load(kAcquire);  // (O2) reads C2's store (R7), for O3's sake
    do {
      if ((exact_.load(kRelaxed) & kClosed) != 0) return;  // (O3)
      // (O4, R9) Release: hands on to R2 what the creator wrote, which R3 has acquired. Where it
      // fails, as O2.
    } while (!stripe.compare_exchange_weak(old, stripe::bits(name), kRelease, kAcquire));
  });
}

References::Closed References::close(id::Keyval keyval) {
  uint64_t word = exact_.load(kRelaxed);
  do {
    if (!is_of(word, keyval) || ended(word)) return Closed::kGone;
    // (C1) It is ordered before C2 by the release there.
  } while (!exact_.compare_exchange_weak(word, word | kClosed, kRelaxed, kRelaxed));
  uint32_t counted = 0;
  stripes_.for_each_of(word, [&counted](Counter& stripe) {
    // Relaxed: the turn is that of the generation's beginning, whatever else changes.
    const uint64_t turned = ~stripe.load(kRelaxed) & stripe::kTurn;
    // (C2, R7) acquire: pairs with R4. Release: O2 that reads it is followed by O3 that sees C1.
    const uint64_t before = stripe.exchange(turned, kAcqRel);
    if (opened(before)) counted += count_in(before);
  });
  const uint64_t change = uint64_t{counted} << kCountShift | kCollected;
  const uint64_t exact = exact_.fetch_add(change, kAcqRel) + change;  // (R5) pairs with R4, R5
  return ended(exact) ? Closed::kEnded : Closed::kInUse;
}

}  // namespace attrcache
