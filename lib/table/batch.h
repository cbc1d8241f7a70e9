// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A table's attributes in the order in which they were set. Usually all are in one batch: they are
// listed and then sorted. If there are more than kFew, and no memory for the list, batches of kFew
// attributes are selected one after the other, each by a pass over the table. That is slow, but a
// free must not fail for want of memory.

#ifndef ATTRCACHE_TABLE_BATCH_H_
#define ATTRCACHE_TABLE_BATCH_H_

#include <cstdint>

#include "platform/memory.h"
#include "table/meta.h"
#include "table/table.h"

namespace attrcache {

class Batch {
 public:
  enum class Order { kOldestFirst, kYoungestFirst };
  struct Item {
    uint64_t age;  // how many attachments to the table before horizon() it was set
    Pair* slot;
    uint32_t index;
  };

  // `memory` is null in tests only: as if there were none.
  Batch(Table& table, Order order, const Memory* memory)
      : table_(table), order_(order), memory_(memory) {}
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Selects the next attributes; false if there are none. Attributes that other threads attach
  // meanwhile may be left out. But no attribute is left out that is attached from the first call to
  // the last, even if it is replaced again and again. No attribute is selected twice, unless it was
  // replaced meanwhile.
  bool next();

  unsigned count() const { return count_; }
  // Whatever the order of the batches, the items of one are sorted from the oldest to the youngest.
  const Item& operator[](unsigned i) const { return items_[i]; }

  // What the table's clock was when the ages were computed.
  uint64_t horizon() const { return horizon_; }

 private:
  static constexpr unsigned kFew = 64;

  bool list_all();
  void select();
  void insert(const Item& item);

  Table& table_;
  const Order order_;
  const Memory* const memory_;
  uint64_t horizon_ = 0;
  bool begun_ = false;
  bool exhausted_ = false;
  // For select(): it is still to select ages from youngest_ up to, but not including, youngest_ +
  // span_.
  uint64_t youngest_ = 0;
  uint64_t span_ = 0;
  unsigned count_ = 0;
  Item few_[kFew];
  Item* items_ = few_;
};

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_BATCH_H_
