// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The operations on all attributes of an object: dup and free. They act on one attribute after the
// other, by the protocol of attribute.h, not on the set as a whole. This is the way of those that
// run callbacks; dup_free_fast.h is that of the others.

#ifndef ATTRCACHE_TABLE_WHOLE_H_
#define ATTRCACHE_TABLE_WHOLE_H_

#include "table/attribute.h"

namespace attrcache {

// Copies from `from` to `to`, oldest first. On failure `to` is empty again.
int copy_attributes(const Target& from, const Target& to, int* callback_code);

// Deletes, youngest first, and releases the table's memory.
int delete_attributes(const Target& target, attrcache_delete_mode mode, int* callback_code);

// Moves everything to a table that is as new; nobody else uses either.
int move_table(const ThreadState& thread, Table& from, Table& to);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_WHOLE_H_
