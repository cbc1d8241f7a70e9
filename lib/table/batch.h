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
  [[gnu::always_inline]] Batch(Table& table, Order order)
      : table_(table), order_(order), horizon_(meta::spread(table.clock.load(kRelaxed))) {}

  // Starts again, with what is attached by now.
  void restart() {
    horizon_ = meta::spread(table_.clock.load(kRelaxed));
    youngest_ = 0;
    span_ = kHalfATurn;
    exhausted_ = left_out_ = false;
  }

  // Selects the next ones; false when there is none.
  [[gnu::always_inline]] bool next() {
    count_ = 0;
    if (exhausted_) [[unlikely]]
      return false;
    // The usual case is kept to straight-line code on local variables: empty slots, and ages that
    // come in order, which `last` tells without a look at the items. There is room for all: as many
    // slots are near as there are items.
    static_assert(kDirectorySlots <= kSize);
    const uint64_t horizon = horizon_, youngest = youngest_, span = span_;
    uint64_t last = ~uint64_t{0};
    Item* end = items_;
    bool left_out = false;
    const uintptr_t root =
        table_.for_each_near([&](uint32_t index, Pair & slot) __attribute__((always_inline)) {
          const uint64_t m = slot.load_meta();
          if (meta::empty(m)) return;
          uint64_t age = age_of(m, horizon);
          if (age >= kHalfATurn && order_ == Order::kOldestFirst) [[unlikely]]
            age = 0;
          if (!meta::visible(m)) [[unlikely]] {
            left_out = true;
          } else if (age - youngest >= span) [[unlikely]] {
            left_out = true;
          } else if (age <= last) [[likely]] {
            *end++ = {age, &slot, index};
            last = age;
          } else {
            end = insert(end, {age, &slot, index});
          }
        });
    count_ = static_cast<unsigned>(end - items_);
    if (left_out) [[unlikely]]
      left_out_ = true;
    if (root != 0) [[unlikely]]
      add_deep(root);
    if (count_ < kSize) [[likely]] {
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

  // After the first next(): whether it selected everything that the slots held.
  bool whole() const { return exhausted_ && !left_out_; }

  unsigned count() const { return count_; }
  // In either order of the batches, those of a batch are sorted from the oldest to the youngest.
  const Item& operator[](unsigned i) const { return items_[i]; }

 private:
  static constexpr unsigned kSize = kDirectorySlots;
  static constexpr uint64_t kHalfATurn = (meta::kSequence >> 1) + 1;

  // Grows with the number of attachments since the horizon, modulo their number: right also when it
  // has wrapped. Those had already, and those younger than the horizon, which look older than half
  // a turn, are not between youngest_ and span_ above it.
  static uint64_t age_of(uint64_t m, uint64_t horizon) {
    return (horizon - meta::sequence(m)) & meta::kSequence;
  }

  [[gnu::noinline]] void add_deep(uintptr_t root) {
    auto visit = [this](uint32_t index, Pair& slot) {
      const uint64_t m = slot.load_meta();
      if (meta::empty(m)) return;
      uint64_t age = age_of(m, horizon_);
      if (age >= kHalfATurn && order_ == Order::kOldestFirst) age = 0;
      if (!meta::visible(m) || age - youngest_ >= span_) {
        left_out_ = true;
      } else {
        count_ = static_cast<unsigned>(insert(items_ + count_, {age, &slot, index}) - items_);
      }
    };
    detail::visit_tree(tree::node(root), tree::height(root), 0, visit);
  }

  // Puts one among those of the batch so far, and returns their new end; the last in order has to
  // go if they are too many.
  [[gnu::noinline]] Item* insert(Item* end, const Item& item) {
    Item* at = end;
    while (at != items_ && at[-1].age < item.age) --at;
    if (end != items_ + kSize) {
      for (Item* i = end++; i != at; --i) *i = i[-1];
    } else if (order_ == Order::kOldestFirst) {
      if (at == end) return end;
      for (Item* i = end - 1; i != at; --i) *i = i[-1];
    } else {
      if (at == items_) return end;
      --at;
      for (Item* i = items_; i != at; ++i) *i = i[1];
    }
    *at = item;
    return end;
  }

  Table& table_;
  const Order order_;
  uint64_t horizon_;
  uint64_t youngest_ = 0;       // ages from here,
  uint64_t span_ = kHalfATurn;  // and less than that above it, are still to be had
  bool exhausted_ = false;
  bool left_out_ = false;
  unsigned count_ = 0;
  Item items_[kSize];
};

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_BATCH_H_
