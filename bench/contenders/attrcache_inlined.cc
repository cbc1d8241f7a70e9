// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// attrcache with get, borrow and give_back inlined into their caller. Everything else is the C API,
// linked statically.

#include "bench/contenders/attrcache.h"
#include "table/get.h"
#include "table/hold.h"

bench::Contender bench::make_contender(int*, char**) {
  return describe_attrcache<attrcache::get, attrcache::borrow, attrcache::give_back>(
      "attrcache_inlined");
}
