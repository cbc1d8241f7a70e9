// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the contenders have in common that use liburcu's quiescent-state flavour.

#ifndef BENCH_CONTENDERS_URCU_H_
#define BENCH_CONTENDERS_URCU_H_

#include <urcu/urcu-qsbr.h>

#include "bench/contenders/counted_keys.h"

namespace bench {

struct Urcu : CountedKeys {
  struct Thread {
    Thread() { urcu_qsbr_register_thread(); }
    ~Thread() { urcu_qsbr_unregister_thread(); }
  };
  static void quiescent() { urcu_qsbr_quiescent_state(); }
};

}  // namespace bench

#endif  // BENCH_CONTENDERS_URCU_H_
