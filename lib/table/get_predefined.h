// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Reads predefined attributes whose keyvals have numbers that the runtime chose: what get does when
// its int is outside the domain's own range.

#ifndef ATTRCACHE_TABLE_GET_PREDEFINED_H_
#define ATTRCACHE_TABLE_GET_PREDEFINED_H_

#include <cstdint>

#include "keyval/registry.h"
#include "table/table.h"

namespace attrcache {

// A value as every language reads it.
struct PredefinedValue {
  void* in_c;     // the pointer, or the address of the int or Aint
  uint64_t bits;  // what a slot would keep
};

// ATTRCACHE_OK, ATTRCACHE_ABSENT, or the error that tells why there is no such keyval.
int get_predefined(const Registry& registry, const Table& table, int number,
                   PredefinedValue* value);

// The same for get in C. `keyval`: the number as get is given it (attrcache_get_ranged).
[[gnu::noinline]] int get_outside_range(const attrcache_kind* kind, const attrcache_table* table,
                                        int keyval, void** value) noexcept;

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_GET_PREDEFINED_H_
