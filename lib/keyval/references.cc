// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/references.h"

namespace attrcache {

bool References::drop_closed() {
  // (R5) acq_rel: whoever drops the last reference sees what all others did before they dropped
  // theirs.
  const uint64_t before = exact_.fetch_sub(kOneOfExact, kAcqRel);
  return exact_count(before) == 1;
}

bool References::close_exact(uint32_t counted) {
  const uint64_t change = static_cast<uint64_t>(signed_sum(counted) - kOpenBias) << kExactShift;
  const uint64_t before = exact_.fetch_add(change, kAcqRel);  // as R5
  return exact_count(before + change) == 0;
}

}  // namespace attrcache
