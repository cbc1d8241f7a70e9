// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The operations on all attributes of an object: dup and free. They act on one attribute after the
// other, by the steps of slot.h, so other threads may see some attributes copied or deleted and
// others not yet. This file serves objects for which callbacks must run; dup_free_fast.h serves the
// others.
//
// Each attribute goes the same way, whatever its keyval: the usual case (the stripe is open, no
// thread has claimed the value, the callback is C's) is tried with the words that were read
// already, and where that fails, a function is called that reads them again. A dup takes a
// reference for the copy, makes its slot, announces that it holds the value, runs copy_fn, and
// attaches. A free claims the value, runs delete_fn, detaches, and drops the reference.

#ifndef ATTRCACHE_TABLE_DUP_FREE_H_
#define ATTRCACHE_TABLE_DUP_FREE_H_

#include "table/attribute.h"

namespace attrcache {

// Copies the attributes of `from` to `to`, the oldest first. If it fails, `to` is empty again.
int copy_attributes(const Target& from, const Target& to, int* callback_code);

// Deletes all attributes, the youngest first, and releases the table's memory. `mode` is
// STOP_AT_FAILURE or DRAIN. After KEYVAL_KIND, and after BUSY if a value is held, `stopped_at` is
// the slot whose value is to blame.
int delete_attributes(const Target& target, attrcache_delete_mode mode, int* callback_code,
                      const Pair** stopped_at = nullptr);

// What a table holds besides what this thread is deleting further up its stack.
struct Remains {
  bool attached = false;
  bool claimed_by_others = false;
  bool any() const { return attached || claimed_by_others; }
};
Remains remains(const ThreadState& thread, Table& table);

// Releases the memory of a table whose content doesn't matter any more, and tells the operations on
// it up this thread's stack.
void release_table(Registry& registry, const ThreadState& thread, Table& table);

// Moves everything to a table that is as new. No other thread may use either.
int move_table(const Readers& readers, Table& from, Table& to);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_DUP_FREE_H_
