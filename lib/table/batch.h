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
    uint64_t rank;
    Pair* slot;
    uint32_t index;
  };

  // Considers the attributes that are attached by now; later ones are left out.
  Batch(Table& table, Order order)
      : table_(table), order_(order), horizon_(table.clock.load(kRelaxed)) {}

  // Selects the next ones; false when there is none.
  bool next() {
    if (started_ && count_ < kSize) return false;
    count_ = 0;
    table_.for_each([this](uint32_t index, Pair& slot) {
      const uint64_t m = slot.load_meta();
      if (meta::visible(m)) consider(index, slot, m);
    });
    if (count_ == 0) return false;
    started_ = true;
    last_ = items_[count_ - 1].rank;
    return true;
  }

  const Item* begin() const { return items_; }
  const Item* end() const { return items_ + count_; }

 private:
  static constexpr unsigned kSize = 64;

  void consider(uint32_t index, Pair& slot, uint64_t m) {
    // How many attachments ago, modulo 2^37: right also when the counter has wrapped.
    const uint64_t age = (horizon_ - meta::sequence(m)) & (meta::kSequenceEnd - 1);
    if (age >= meta::kSequenceEnd / 2) return;  // younger than the horizon
    const uint64_t rank = order_ == Order::kYoungestFirst ? age : meta::kSequenceEnd / 2 - 1 - age;
    if (started_ && rank <= last_) return;
    unsigned at = count_;
    while (at > 0 && items_[at - 1].rank > rank) --at;
    if (at == kSize) return;
    if (count_ < kSize) ++count_;
    for (unsigned i = count_ - 1; i > at; --i) items_[i] = items_[i - 1];
    items_[at] = {rank, &slot, index};
  }

  Table& table_;
  const Order order_;
  const uint64_t horizon_;
  bool started_ = false;
  uint64_t last_ = 0;
  unsigned count_ = 0;
  Item items_[kSize];
};

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_BATCH_H_
