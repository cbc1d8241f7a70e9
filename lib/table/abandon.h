// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The ends of a table that can't fail: whatever is attached, in use or wrong, the table is as new
// afterwards. For callers that can't try again: destructors of objects, and runtimes that end.

#ifndef ATTRCACHE_TABLE_ABANDON_H_
#define ATTRCACHE_TABLE_ABANDON_H_

#include "table/attribute.h"

namespace attrcache {

// Deletes as delete_attributes does in the mode DRAIN, and abandons the rest.
int delete_attributes_finally(const Target& target, int* callback_code);

// Gives up all attributes without calling delete_fn.
int abandon_attributes(const Target& target);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_ABANDON_H_
