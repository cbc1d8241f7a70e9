// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A table's attributes in the order of setting. Usually they are all in one batch: listed, and then
// sorted. If there are more than kFew and no memory for the list, batches of kFew are selected one
// after the other, each by a pass over the table: a free must not fail for want of memory.

#ifndef ATTRCACHE_TABLE_BATCH_H_
#define ATTRCACHE_TABLE_BATCH_H_

#include <cstdint>

#include "table/meta.h"
#include "table/table.h"

namespace attrcache {

class Batch {
 public:
  enum class Order { kOldestFirst, kYoungestFirst };
  enum class Memory { kMayAllocate, kNone };  // none: as if there were none
  struct Item {
    uint64_t age;  // how many attachments to the table ago it was set, before horizon()
    Pair* slot;
    uint32_t index;
  };

  Batch(Table& table, Order order, Memory memory = Memory::kMayAllocate)
      : table_(table), order_(order), memory_(memory) {}
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Selects the next ones; false when there is none. What others attach meanwhile may be left out,
  // but nothing is that was there at the first call, and is attached, or replaced again and again,
  // until the last. Nothing is selected twice but what was replaced meanwhile.
  bool next();

  unsigned count() const { return count_; }
  // In either order of the batches, those of a batch are sorted from the oldest to the youngest.
  const Item& operator[](unsigned i) const { return items_[i]; }

  // The table's clock, as of when the ages were taken.
  uint64_t horizon() const { return horizon_; }

 private:
  static constexpr unsigned kFew = 64;

  bool list_all();
  void select();
  void insert(const Item& item);

  Table& table_;
  const Order order_;
  const Memory memory_;
  uint64_t horizon_ = 0;
  bool begun_ = false;
  bool exhausted_ = false;
  // For select(): ages from here, and less than that above it, are still to be had.
  uint64_t youngest_ = 0;
  uint64_t span_ = 0;
  unsigned count_ = 0;
  Item few_[kFew];
  Item* items_ = few_;
};

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_BATCH_H_
