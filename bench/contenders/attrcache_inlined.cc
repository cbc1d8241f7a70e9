// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// attrcache with get, borrow and give_back inlined into their caller. Everything else is the C API,
// linked statically.

#include "attrcache/attrcache_inline.h"
#include "bench/contenders/attrcache.h"
#include "table/hold.h"

namespace {

[[gnu::always_inline]] inline int get(const attrcache_kind* kind, const attrcache_table* table,
                                      int keyval, void** value) {
  const int result = attrcache_get_at_once(kind, table, ATTRCACHE_KEYVAL_MIN, keyval, value);
  return result != ATTRCACHE_INLINE_ASK ? result : attrcache_get(kind, table, keyval, value);
}

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe_attrcache<get, attrcache::borrow, attrcache::give_back>("attrcache_inlined");
}
