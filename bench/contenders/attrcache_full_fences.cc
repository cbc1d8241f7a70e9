// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// attrcache as a shared library whose borrows execute full fences.

#include "bench/contenders/attrcache.h"

bench::Contender bench::make_contender(int*, char**) {
  return describe_attrcache<attrcache_get>("attrcache_full_fences", ATTRCACHE_FULL_FENCES);
}
