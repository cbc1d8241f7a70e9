// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef ATTRCACHE_TESTS_SUPPORT_COUNTS_H_
#define ATTRCACHE_TESTS_SUPPORT_COUNTS_H_

#include "table/table.h"

namespace attrcache::support {

// Whether each group of leaves counts all attributes that it has (T5); and no more, if no free of the
// table has failed. No other thread may use it.
inline bool counts_are_right(attrcache_table& table, bool free_has_failed = false) {
  const Directory* const directory = Table::of(&table).directory.load(kAcquire);
  if (directory == nullptr) return true;
  Leaf* leaf = directory->tree.load(kAcquire)->made.first.load(kAcquire);
  while (leaf != nullptr) {
    const Leaf* const head = leaf;
    unsigned there = 0;
    for (; leaf != nullptr && &leaf->head() == head; leaf = leaf->next.load(kAcquire)) {
      for (const Pair& slot : leaf->slots) there += slot.load_meta() != 0;
    }
    const unsigned counted = head->attributes.load(kRelaxed);
    if (there > counted || (there != counted && !free_has_failed)) return false;
  }
  return true;
}

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_SUPPORT_COUNTS_H_
