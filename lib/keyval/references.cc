// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/references.h"

namespace attrcache {

bool References::drop_exact() {
  // (R5) acq_rel: the thread that drops the last reference sees what all others did before they
  // dropped theirs.
  const uint64_t before = exact_.fetch_sub(kOneOfExact, kAcqRel);
  return ended(before - kOneOfExact);
}

void References::open(unsigned ordinal, id::Keyval keyval, uint32_t flags) {
  const uint32_t bit = 1u << (ordinal & mask_ & (kBits - 1));
  uint64_t word = exact_.load(kRelaxed);
  do {
    if ((word & kClosed) != 0) return;
    if ((word & bit) != 0) break;
    // (O1) Relaxed: it says only that close() must look at the stripe.
  } while (!exact_.compare_exchange_weak(word, word | bit, kRelaxed, kRelaxed));
  Counter& stripe = stripe_of(ordinal);
  uint64_t old = stripe.load(kRelaxed);
  do {
    if (opened(old) || stripe::name_in(old) == stripe::shut(keyval)) return;
    // (O2) Release: hands on to R2 what the creator wrote, which R3 has acquired.
  } while (!stripe.compare_exchange_weak(old, stripe::bits(stripe::name(keyval, flags)), kRelease,
                                         kRelaxed));
}

References::Closed References::close(id::Keyval keyval) {
  uint64_t word = exact_.load(kRelaxed);
  do {
    if (!is_of(word, keyval) || (word & kClosed) != 0) return Closed::kGone;
    // (C1) Relaxed: it says only that no more bits may be set.
  } while (!exact_.compare_exchange_weak(word, word | kClosed, kRelaxed, kRelaxed));
  uint32_t counted = 0;
  for_each_opened(word, [&counted, keyval](Counter& stripe) {
    // (C2, R7) acquire: pairs with R4.
    const uint64_t before = stripe.exchange(stripe::bits(stripe::shut(keyval)), kAcquire);
    if (opened(before)) counted += count_in(before);
  });
  const uint64_t change = uint64_t{counted} << kCountShift | kCollected;
  const uint64_t exact = exact_.fetch_add(change, kAcqRel) + change;  // (R5) pairs with R4, R5
  return ended(exact) ? Closed::kEnded : Closed::kInUse;
}

}  // namespace attrcache
