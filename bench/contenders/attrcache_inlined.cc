// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// attrcache with get inlined into its caller. Everything else is the C API, linked statically.

#include "bench/contenders/attrcache.h"
#include "table/get.h"

bench::Contender bench::make_contender(int*, char**) {
  return describe_attrcache<attrcache::get>("attrcache_inlined");
}
