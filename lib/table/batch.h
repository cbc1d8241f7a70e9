// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A table's attributes in the order in which they were set. Usually all are in one batch: they are
// listed in one pass and then sorted, unless they are in order already, as most are. If there is no
// memory for a longer list, each kFew of them are a batch, in the order of the slots: a free must
// not fail for want of memory.

#ifndef ATTRCACHE_TABLE_BATCH_H_
#define ATTRCACHE_TABLE_BATCH_H_

#include <cstdint>

#include "platform/memory.h"
#include "table/meta.h"
#include "table/table.h"

namespace attrcache {

class Batch {
 public:
  struct Item {
    uint64_t meta;  // as it was when the attribute was selected
    Pair* slot;
    uint32_t index;
  };

  Batch(Table& table, const Memory& memory) : table_(table), memory_(memory) {}
  ~Batch() {
    if (items_ != few_) memory_.release(items_);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Selects the next attributes; false if there are none. Attributes that other threads attach
  // meanwhile may be left out. But no attribute is left out that is attached from the first call to
  // the last, even if it is replaced again and again; and no slot is selected twice.
  bool next() { return !all_ && select(); }

  // Sorted from the oldest to the youngest.
  const Item* begin() const { return items_; }
  const Item* end() const { return end_; }

 private:
  // How many are listed on the stack. Frees nest, and user-level threads have small stacks.
  static constexpr unsigned kFew = 10;

  bool select();
  // Makes more room for items, and returns it. Null: there is no memory.
  Item* make_room();

  Table& table_;
  const Memory& memory_;
  bool all_ = false;            // whether all are listed
  const Pair* last_ = nullptr;  // if not: the slot after which the next batch begins
  Item few_[kFew];
  Item* items_ = few_;  // the first of the batch
  Item* end_ = few_;
  Item* limit_ = few_ + kFew;  // where the room for items ends
};

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_BATCH_H_
