// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Keeps the order of a table's attributes right for ever, though a slot has room for 36 bits of a
// sequence number only. Whenever the table's clock passes a multiple of 2^32, the thread whose tick
// that was gives all attributes that are older than 2^33 attachments younger numbers: those just
// beyond 2^33, in the same order. So no attribute is ever as old as 2^36, unless passes for eight
// multiples of 2^32 in a row were cut short by want of memory.

#ifndef ATTRCACHE_TABLE_RENUMBER_H_
#define ATTRCACHE_TABLE_RENUMBER_H_

#include <cstdint>

#include "table/table.h"

namespace attrcache {

// Any thread, beside any others. `number` is the one whose Table::wants_renumbering was true.
void renumber(Table& table, uint64_t number);

// The next number for a table, which is renumbered first where that is due.
inline uint64_t next_number(Table& table) {
  const uint64_t number = table.tick();
  if (Table::wants_renumbering(number)) [[unlikely]]
    renumber(table, number);
  return number;
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_RENUMBER_H_
