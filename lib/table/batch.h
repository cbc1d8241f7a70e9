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

  // Considers the attributes that are attached by now; later ones are left out.
  Batch(Table& table, Order order)
      : table_(table), order_(order), horizon_(meta::spread(table.clock.load(kRelaxed))) {}

  // Selects the next ones; false when there is none.
  bool next() {
    if (exhausted_) return false;
    count_ = 0;
    table_.for_each([this](uint32_t index, Pair& slot) {
      const uint64_t m = slot.load_meta();
      if (meta::visible(m)) consider(index, slot, m);
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
  static constexpr unsigned kSize = 64;

  void consider(uint32_t index, Pair& slot, uint64_t m) {
    // Grows with the number of attachments since, modulo their number: right also when it has
    // wrapped.
    const uint64_t age = (horizon_ - meta::sequence(m)) & meta::kSequence;
    // Had already; or younger than the horizon, which looks older than half a turn.
    if (age - youngest_ >= span_) return;
    unsigned at = count_;
    while (at > 0 && items_[at - 1].age < age) --at;
    if (count_ < kSize) {
      for (unsigned i = count_++; i > at; --i) items_[i] = items_[i - 1];
    } else if (order_ == Order::kOldestFirst) {
      if (at == kSize) return;
      for (unsigned i = kSize - 1; i > at; --i) items_[i] = items_[i - 1];
    } else {
      if (at == 0) return;
      --at;
      for (unsigned i = 0; i < at; ++i) items_[i] = items_[i + 1];
    }
    items_[at] = {age, &slot, index};
  }

  Table& table_;
  const Order order_;
  const uint64_t horizon_;
  uint64_t youngest_ = 0;                       // ages from here,
  uint64_t span_ = (meta::kSequence >> 1) + 1;  // and less than that above it, are still to be had
  bool exhausted_ = false;
  unsigned count_ = 0;
  Item items_[kSize];
};

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_BATCH_H_
