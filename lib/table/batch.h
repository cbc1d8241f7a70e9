// SPDX-License-Identifier: Apache-2.0
//
// A table's attributes in the order of setting, some at a time, without allocating: a free must not
// fail for want of memory. One pass over the table selects up to kSize attributes, the oldest or
// the youngest of those not had yet; n attributes take n / kSize + 1 passes.

#ifndef ATTRCACHE_TABLE_BATCH_H_
#define ATTRCACHE_TABLE_BATCH_H_

#include <cstdint>

#include "table/meta.h"
#include "table/table.h"

namespace attrcache {

class Batch {
 public:
  enum class Order { kOldestFirst, kYoungestFirst };
  struct Item {
    uint64_t age;
    Pair* slot;
    uint32_t index;
  };

  // Considers the attributes that are attached by now. Later ones are left out, youngest first;
  // oldest first they come last, for what a set replaces meanwhile is attached all the time.
  Batch(Table& table, Order order)
      : table_(table), order_(order), horizon_(meta::spread(table.clock.load(kRelaxed))) {
    if (order == Order::kOldestFirst) span_ += kIndices;
  }

  // Selects the next ones; false when there is none.
  bool next() {
    count_ = 0;
    if (exhausted_) return false;
    table_.for_each([this](uint32_t index, Pair& slot) {
      const uint64_t m = slot.load_meta();
      if (!meta::visible(m)) return;
      uint64_t age = (horizon_ - meta::sequence(m)) & meta::kSequence;
      if (order_ == Order::kOldestFirst) {
        // By index: what is replaced once more must not come once more.
        age = age < kHalfATurn ? kIndices + age : kIndices - 1 - index;
      }
      if (age - youngest_ < span_) insert({age, &slot, index});
    });
    if (count_ < kSize) {
      exhausted_ = true;
    } else if (order_ == Order::kOldestFirst) {
      span_ = items_[kSize - 1].age;
    } else {
      const uint64_t had = items_[0].age + 1;
      span_ -= had - youngest_;
      youngest_ = had;
    }
    return count_ != 0;
  }

  unsigned count() const { return count_; }
  // In either order of the batches, those of a batch are sorted from the oldest to the youngest.
  const Item& operator[](unsigned i) const { return items_[i]; }

 private:
  static constexpr unsigned kSize = kDirectorySlots;
  static constexpr uint64_t kHalfATurn = (meta::kSequence >> 1) + 1;
  static constexpr uint64_t kIndices = uint64_t{id::kOffsetMask >> id::kIndexShift} + 1;

  // Puts one among those of the batch so far; the last in order has to go if they are too many.
  void insert(const Item& item) {
    Item* const end = items_ + count_;
    Item* at = end;
    while (at != items_ && at[-1].age < item.age) --at;
    if (count_ < kSize) {
      for (Item* i = end; i != at; --i) *i = i[-1];
      ++count_;
    } else if (order_ == Order::kOldestFirst) {
      if (at == end) return;
      for (Item* i = end - 1; i != at; --i) *i = i[-1];
    } else {
      if (at == items_) return;
      --at;
      for (Item* i = items_; i != at; ++i) *i = i[1];
    }
    *at = item;
  }

  Table& table_;
  const Order order_;
  const uint64_t horizon_;
  // An age grows with the number of attachments between it and the horizon, modulo their number:
  // right also when it has wrapped. What is younger than the horizon looks older than half a turn.
  uint64_t youngest_ = 0;       // ages from here,
  uint64_t span_ = kHalfATurn;  // and less than that above it, are still to be had
  bool exhausted_ = false;
  unsigned count_ = 0;
  Item items_[kSize];
};

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_BATCH_H_
