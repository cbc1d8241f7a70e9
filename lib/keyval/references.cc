// SPDX-License-Identifier: Apache-2.0

#include "keyval/references.h"

namespace attrcache {

void References::reset(unsigned generation) {
  exact_.store(pack(generation, kBias), kRelaxed);  // published by R6
  for (unsigned s = 0; s < stripes_; ++s) {
    stripe(s).store(pack(generation, 0), kRelease);  // (R6) pairs with R2
  }
}

bool References::drop_closed() {
  // (R5) acq_rel: the last to drop sees what every other did before its own drop.
  const uint64_t before = exact_.fetch_sub(kOne, kAcqRel);
  return count_of(before) == 1;
}

bool References::close() {
  int64_t sum = 0;
  for (unsigned s = 0; s < stripes_; ++s) {
    // (R7) acquire: pairs with R4; release: those who find it closed see that the keyval is freed.
    sum += count_of(stripe(s).fetch_or(kClosed, kAcqRel));
  }
  const uint64_t change = static_cast<uint64_t>(sum - kBias) << kCountShift;
  const uint64_t before = exact_.fetch_add(change, kAcqRel);  // as R5
  return count_of(before + change) == 0;
}

uint64_t References::count() const {
  int64_t sum = count_of(exact_.load(kAcquire));
  if (sum >= kBias / 2) sum -= kBias;  // not closed yet
  for (unsigned s = 0; s < stripes_; ++s) {
    const uint64_t word = stripe(s).load(kAcquire);
    if ((word & kClosed) == 0) sum += count_of(word);
  }
  return sum > 0 ? static_cast<uint64_t>(sum) : 0;
}

}  // namespace attrcache
