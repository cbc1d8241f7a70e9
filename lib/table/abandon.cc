// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Ends a table, and can't fail: whatever is attached or wrong, the table is as new afterwards. For
// callers that can't try again: destructors of objects, and runtimes that end. The caller is alone
// with the table, as in every free.

#include "table/dup_free.h"
#include "table/hand_off.h"
#include "table/meta.h"

namespace attrcache {

int abandon_one(const Target& target, const Batch::Item& item) {
  uint64_t m = item.slot->load_meta();
  if (!meta::visible(m) || meta::deleting(m)) return ATTRCACHE_OK;
  const id::Keyval keyval = meta::keyval(m, item.index);
  const bool known = target.registry.is_kind_of(keyval);
  item.slot->store_unshared({0, 0});
  if (!known) return ATTRCACHE_ERR_KEYVAL_KIND;
  target.registry.drop(keyval);
  return ATTRCACHE_OK;
}

int abandon_attributes(const Target& target) {
  Table& table = target.table;
  const Memory& memory = target.registry.memory();
  if (!table.owns_its_memory()) {
    table.directory.store(nullptr, kRelaxed);  // it is another table's
    table.clear(memory);
    return ATTRCACHE_ERR_MOVED;
  }
  Readers& readers = target.registry.readers();
  Frame frame(readers.threads().self(), &table);
  int first = ATTRCACHE_OK;
  // Destructors may attach something again. What they attach in the last round is lost with its
  // slot, and its keyval stays for ever.
  for (int round = 0; round < kMaxDeletingRounds; ++round) {
    Batch batch(table, &memory);
    while (batch.next()) {
      for (const Batch::Item* item = batch.end(); item != batch.begin();) {
        const int result = abandon_one(target, *--item);
        if (frame.table_died) return first;
        if (first == ATTRCACHE_OK) first = result;
      }
    }
    if (table.replaced()) abandon_handed_off(readers, table);
    if (frame.table_died) return first;
    if (what_is_left(readers, table) == ATTRCACHE_OK) break;
  }
  release_table(target.registry, table);
  return first;
}

}  // namespace attrcache
