// SPDX-License-Identifier: Apache-2.0
//
// The C API in the shared library.

#include "bench/contenders/attrcache.h"

bench::Contender bench::make_contender(int*, char**) {
  return describe_attrcache<attrcache_get>("attrcache_shared");
}
