// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// attrcache with the get of attrcache_inline.h, which is C, inlined into its caller.

#include <attrcache/attrcache_inline.h>

#include "bench/contenders/attrcache.h"

bench::Contender bench::make_contender(int*, char**) {
  return describe_attrcache<attrcache_get_inline>("attrcache_inline_c");
}
