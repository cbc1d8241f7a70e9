// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A table's attributes in the order in which they were set. Usually all are in one batch: they are
// listed in one pass and then sorted, unless they are in order already, as most are. If there are
// more than kFew, and no memory for the list, one attribute after the other is selected, each by a
// pass over the table. That is slow, but a free must not fail for want of memory.

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
    uint64_t meta;  // as it was when the attribute was selected
    Pair* slot;
    uint32_t index;
  };

  // `memory` is null in tests only, to simulate that there is none.
  Batch(Table& table, Order order, const Memory* memory)
      : table_(table), order_(order), memory_(memory) {}
  ~Batch() { release_memory(); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Selects the next attributes; false if there are none. Attributes that other threads attach
  // meanwhile may be left out. But no attribute is left out that is attached from the first call to
  // the last, even if it is replaced again and again. No attribute is selected twice, unless it was
  // replaced meanwhile.
  bool next() {
    count_ = 0;
    return !exhausted_ && find_next();
  }

  unsigned count() const { return count_; }
  // Whatever the order of the batches, the items of one are sorted from the oldest to the youngest.
  const Item& operator[](unsigned i) const { return items_[i]; }
  const Item* begin() const { return items_; }
  const Item* end() const { return items_ + count_; }

  // The table's clock after everything selected was attached; and an item's age then, in
  // attachments to the table.
  uint64_t horizon() const { return horizon_; }
  uint64_t age(unsigned i) const { return meta::age(items_[i].meta, horizon_); }

  // Whether an occupied slot was passed over, because its value is hidden.
  bool passed_over() const { return passed_over_ != 0; }

 private:
  // How many are listed on the stack. Frees nest, and user-level threads have small stacks.
  static constexpr unsigned kFew = 10;

  bool find_next();
  bool list_all();
  void sort();
  bool old_ones_changed();
  bool list_runs(size_t* slots);
  bool make_room(size_t capacity, size_t used);
  void release_memory() {
    if (room_ == few_) return;
    memory_->release(room_);
    room_ = items_ = few_;
    capacity_ = kFew;
  }
  void select();
  uint64_t rank(uint64_t m, uint32_t index) const;

  Table& table_;
  const Order order_;
  const Memory* const memory_;
  uint64_t horizon_ = 0;
  bool begun_ = false;
  bool exhausted_ = false;
  // For select(): the next one's rank is at least this, or below it if the oldest comes first.
  // (See rank().)
  uint64_t next_ = 0;
  uint64_t passed_over_ = 0;  // their metas, or'ed
  unsigned count_ = 0;
  Item few_[kFew];
  size_t capacity_ = kFew;
  Item* room_ = few_;   // room for capacity_ items
  Item* items_ = few_;  // the first of the batch
};

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_BATCH_H_
