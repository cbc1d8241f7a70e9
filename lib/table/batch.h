// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A table's attributes in the order in which they were set. Usually all are in one batch: they are
// listed in one pass and then sorted, unless they are in order already, as most are. If there are
// more than kFew, and no memory for the list, each run of slots is a batch, in the order of indices:
// a free must not fail for want of memory.

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

  // `memory` is null in tests only, to simulate that there is none.
  Batch(Table& table, const Memory* memory) : table_(table), memory_(memory) {}
  ~Batch() { release_memory(); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Selects the next attributes; false if there are none. Attributes that other threads attach
  // meanwhile may be left out. But no attribute is left out that is attached from the first call to
  // the last, even if it is replaced again and again; and no slot is selected twice.
  bool next() { return from_ != kEnd && select(); }

  unsigned count() const { return count_; }
  // Sorted from the oldest to the youngest.
  const Item& operator[](unsigned i) const { return items_[i]; }
  const Item* begin() const { return items_; }
  const Item* end() const { return items_ + count_; }

  // Whether an occupied slot was passed over, because its value is hidden.
  bool passed_over() const { return passed_over_ != 0; }

 private:
  // How many are listed on the stack. Frees nest, and user-level threads have small stacks.
  static constexpr unsigned kFew = 10;

  bool select();
  bool list_all();
  void list_run();
  void list(Pair* run, uint32_t length, uint32_t first);
  void begin_at(Item* end);
  void sort();
  [[gnu::noinline]] void sort_by_age(uint64_t now);
  bool list_runs(size_t* slots);
  bool make_room(size_t capacity, size_t used);
  void release_memory() {
    if (room_ == few_) return;
    memory_->release(room_);
    room_ = items_ = few_;
    capacity_ = kFew;
  }

  Table& table_;
  const Memory* const memory_;
  static constexpr uint32_t kEnd = ~uint32_t{0};
  uint32_t from_ = 0;         // which indices were not listed yet: those from here on
  uint64_t passed_over_ = 0;  // their metas, or'ed
  // While a list is made, which grows downwards from the end of the room: whether the numbers
  // descend, and the last one.
  bool in_order_ = true;
  uint64_t next_ = 0;
  unsigned count_ = 0;
  Item few_[kFew];
  size_t capacity_ = kFew;
  Item* room_ = few_;   // room for capacity_ items
  Item* items_ = few_;  // the first of the batch
};

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_BATCH_H_
