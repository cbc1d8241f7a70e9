// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Shared by the contenders that use liburcu: in its flavour that needs membarrier, or in the one of
// quiescent states.

#ifndef BENCH_CONTENDERS_URCU_H_
#define BENCH_CONTENDERS_URCU_H_

#ifdef RCU_MEMBARRIER
#include <urcu.h>
#else
#include <urcu-qsbr.h>
#endif

#include "bench/contenders/counted_keys.h"

namespace bench {

struct Urcu : CountedKeys {
  struct Thread {
    Thread() { rcu_register_thread(); }
    ~Thread() { rcu_unregister_thread(); }
  };
  static void quiescent() { rcu_quiescent_state(); }
};

}  // namespace bench

#endif  // BENCH_CONTENDERS_URCU_H_
