// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The operations on all attributes of an object: dup and free. They act on one attribute after the
// other, by the steps of slot.h, so other threads may see some attributes copied or deleted and
// others not yet.

#ifndef ATTRCACHE_TABLE_DUP_FREE_H_
#define ATTRCACHE_TABLE_DUP_FREE_H_

#include "table/attribute.h"

namespace attrcache {

// Copies the attributes of `from` to `to`, the oldest first. If it fails, `to` is empty again.
int copy_attributes(const Target& from, const Target& to, int* callback_code);

// Whom delete_attributes() tells of each attribute, as attrcache_delete_each says.
struct Listener {
  attrcache_deleted_fn* deleted_fn = nullptr;  // null: nobody
  void* context = nullptr;
};

// A mode of the library's own, for copies whose dup has failed: as DRAIN, but hands off the
// deletion of a value that is held, and lets operations on the table up this thread's stack go on.
constexpr auto kUndo = static_cast<attrcache_delete_mode>(ATTRCACHE_DRAIN_FINALLY + 1);

// Deletes all attributes, the youngest first, and releases the table's memory.
int delete_attributes(const Target& target, attrcache_delete_mode mode, int* callback_code,
                      Listener listener = {});

// Gives up all attributes without calling delete_fn. Whatever is attached or wrong, and whatever it
// returns, the table is as new afterwards: for callers that can't try again, such as destructors of
// objects. The caller is alone with it, as in every free.
int abandon_attributes(const Target& target);

// What a table holds besides what this thread is deleting further up its stack: OK if nothing, BUSY
// if only what others are deleting, else REATTACHED.
int what_is_left(const Readers& readers, Table& table);

// Moves everything to a table that is as new. No other thread may use either.
int move_table(const Readers& readers, Table& from, Table& to);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_DUP_FREE_H_
