// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Lists for debuggers and leak reports. Each entry is a consistent snapshot. The list as a whole
// isn't, if other threads change things meanwhile.

#ifndef ATTRCACHE_TABLE_INSPECT_H_
#define ATTRCACHE_TABLE_INSPECT_H_

#include <cstddef>
#include <cstdint>

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "table/inspected.h"
#include "table/table.h"

namespace attrcache {

// Describes the keyvals, in the order of their indices, as far as there is room. Returns how many
// there are.
size_t list_keyvals(Registry& registry, const Inspected<attrcache_keyval_info>& infos);

int describe_keyval(Registry& registry, int number, const Inspected<attrcache_keyval_info>& info);

// The same for a table's attributes, in the order of setting.
size_t list_attributes(const Registry& registry, const Table& table,
                       const Inspected<attrcache_attribute_info>& infos);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_INSPECT_H_
