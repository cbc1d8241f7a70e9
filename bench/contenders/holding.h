// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// An array of values, each of which may be used while others replace it. The contender is what
// keeps the value alive meanwhile; only that is measured.

#ifndef BENCH_CONTENDERS_HOLDING_H_
#define BENCH_CONTENDERS_HOLDING_H_

#include "bench/contenders/used.h"
#include "bench/harness/describe.h"

namespace bench {

// A Cell holds a value: set(value) publishes it, and borrow() uses and returns it. Its Replaced is a
// cell whose values are freed: replace() and use() are as in contender.h.
template <class Cell>
struct Holding : CountedKeys {
  struct Object {
    Cell cells[64];
    typename Cell::Replaced replaced;
  };

  static bool set(Object* object, int key, void* value) {
    object->cells[key].set(value);
    return true;
  }
  [[gnu::always_inline]] static bool borrow(Object* object, int key, void** value) {
    *value = object->cells[key].borrow();
    return *value != nullptr;
  }
  static bool replace(Object* object) { return object->replaced.replace(), true; }
  [[gnu::always_inline]] static bool use(Object* object) { return object->replaced.use(), true; }
};

}  // namespace bench

#endif  // BENCH_CONTENDERS_HOLDING_H_
