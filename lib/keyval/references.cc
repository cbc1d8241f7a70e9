// SPDX-License-Identifier: Apache-2.0

#include "keyval/references.h"

namespace attrcache {

bool References::drop_closed() {
  // (R5) acq_rel: the last to drop sees what every other did before its own drop.
  const uint64_t before = exact_.fetch_sub(kOneOfExact, kAcqRel);
  return exact_count(before) == 1;
}

bool References::close_exact(uint32_t counted) {
  const uint64_t change = static_cast<uint64_t>(signed_sum(counted) - kBias) << kExactShift;
  const uint64_t before = exact_.fetch_add(change, kAcqRel);  // as R5
  return exact_count(before + change) == 0;
}

uint64_t References::count() const {
  int64_t sum = exact_count(exact_.load(kAcquire));
  if (sum >= kBias / 2) sum -= kBias;  // not closed yet
  uint32_t counts = 0;
  stripes_.for_each([&counts](const Counter& stripe) {
    const uint64_t word = stripe.load(kAcquire);
    if (!closed(word)) counts += stripe_count(word);
  });
  sum += signed_sum(counts);
  return sum > 0 ? static_cast<uint64_t>(sum) : 0;
}

}  // namespace attrcache
