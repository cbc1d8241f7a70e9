// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef ATTRCACHE_TESTS_SUPPORT_COUNTS_H_
#define ATTRCACHE_TESTS_SUPPORT_COUNTS_H_

#include "table/table.h"

namespace attrcache::support {

// Whether each group of leaves counts all attributes that it has (T5), its leaves of the directory,
// and nothing else. No other thread may use the table.
inline bool counts_are_right(attrcache_table& table) {
  const Directory* const directory = Table::of(&table).directory.load(kAcquire);
  if (directory == nullptr) return true;
  for (Block* block = directory->first.load(kAcquire); block != nullptr;
       block = block->next.load(kAcquire)) {
    for (Leaf* group = block->leaves(); group < block->end(); group += kGroupLeaves) {
      unsigned there = 0;
      for (Leaf* leaf = group; leaf != block->end() && leaf != group + kGroupLeaves; ++leaf) {
        const uint32_t number = leaf->number.load(kRelaxed);
        const bool counted_for_good = number != 0 && number < kDirectoryLeaves;
        there += counted_for_good;
        if (number == 0 || counted_for_good) continue;
        for (const Pair& slot : leaf->slots) there += slot.load_meta() != 0;
      }
      if (there != group->attributes.load(kRelaxed)) return false;
    }
  }
  return true;
}

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_SUPPORT_COUNTS_H_
