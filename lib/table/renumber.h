// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Keeps the order of a table's attributes right for ever, although a slot has room for only 35 bits
// of a sequence number. Whenever the table's clock passes a multiple of 2^32, the thread that made
// that attachment renumbers the attributes that are older than 2^33 attachments. They get younger
// numbers, with ages from 2^33 on, in the same order. So no attribute ever gets as old as 2^35
// attachments, unless there was no memory for six renumberings in a row.

#ifndef ATTRCACHE_TABLE_RENUMBER_H_
#define ATTRCACHE_TABLE_RENUMBER_H_

#include <cstdint>

#include "table/table.h"

namespace attrcache {

// Any thread may call this, whatever others do meanwhile, once Table::wants_renumbering was true of
// a number that it got, or of an earlier one.
void renumber(Table& table, const Memory& memory);

// The next sequence number of a table. Renumbers the table's attributes if that is due.
inline uint64_t next_number(Table& table, const Memory& memory) {
  const uint64_t number = table.tick();
  if (Table::wants_renumbering(number)) [[unlikely]]
    renumber(table, memory);
  return number;
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_RENUMBER_H_
