// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// attrcache as it is on a machine with 64 processors or more, while 64 threads use it: references
// are counted in 64 stripes, and the threads that work have thread numbers beside 62 others.

#include <deque>

#include "bench/contenders/attrcache.h"
#include "bench/harness/idle_thread.h"
#include "tests/support/processors.h"

// A thread that has used attrcache keeps its thread number while it idles. In a domain of its own,
// so that the measured keyvals are the first of their domain.
static void use_attrcache() {
  attrcache_kind* const kind = bench::make_kind();
  int key;
  alignas(64) attrcache_table table = ATTRCACHE_TABLE_INIT;
  bench::require(attrcache_keyval_create(kind, nullptr, &key) == ATTRCACHE_OK, "create a key");
  bench::require(attrcache_set_as(kind, &table, nullptr, key, 1, ATTRCACHE_AS_POINTER, nullptr) ==
                     ATTRCACHE_OK,
                 "set");
  bench::require(
      attrcache_delete_all(kind, &table, nullptr, ATTRCACHE_DRAIN, nullptr) == ATTRCACHE_OK,
      "delete");
}

bench::Contender bench::make_contender(int*, char**) {
  attrcache::support::processors = 64;
  bench::Contender contender = describe_attrcache<attrcache_get>("attrcache_64");
  // The measuring program starts two more.
  static std::deque<IdleThread> others;
  while (others.size() < 62) others.emplace_back(true, use_attrcache);
  return contender;
}
