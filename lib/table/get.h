// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Reads an attribute in any language, whatever its keyval. The common gets in C don't come here:
// attrcache_inline.h has their look at a slot, for the C API as for its users.

#ifndef ATTRCACHE_TABLE_GET_H_
#define ATTRCACHE_TABLE_GET_H_

#include <cstdint>

#include "keyval/registry.h"
#include "table/table.h"

namespace attrcache {

// A value, as every language reads it.
struct Seen {
  void* in_c;     // the pointer, or the address of the int or Aint
  uint64_t bits;  // what a slot keeps
};

// Reads the visible value under `keyval`. Returns ATTRCACHE_OK, ATTRCACHE_ABSENT, or the error that
// says why there is no such keyval.
int get_attribute(const Registry& registry, const Table& table, id::Keyval keyval, Seen* value);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_GET_H_
