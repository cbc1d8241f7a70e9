// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/batch.h"

#include <algorithm>

#include "platform/memory.h"

namespace attrcache {
namespace {

// select() reads the horizon before the slots. So what was attached after that has a negative age,
// which modulo 2^35 is above this one, and nothing else has such an age (see renumber.h).
constexpr uint64_t kYounger =
    (uint64_t{1} << meta::kSequenceBits) - (uint64_t{1} << (meta::kSequenceBits - 2));
constexpr uint64_t kIndices = uint64_t{id::kOffsetMask >> id::kIndexShift} + 1;

}  // namespace

Batch::~Batch() {
  if (items_ != few_) memory_->release(items_);
}

bool Batch::next() {
  if (!begun_) {
    begun_ = true;
    if (list_all()) {
      exhausted_ = true;
      return count_ != 0;
    }
    horizon_ = table_.clock.load(kRelaxed);
    span_ = kYounger;
    if (order_ == Order::kOldestFirst) span_ += kIndices;
  }
  count_ = 0;
  if (!exhausted_) select();
  return count_ != 0;
}

// Lists and sorts all attributes. False: there is no memory for the list.
bool Batch::list_all() {
  unsigned capacity = kFew;
  unsigned there;
  for (;;) {
    there = 0;
    table_.for_each([&](uint32_t index, Pair& slot) {
      const uint64_t m = slot.load_meta();
      if (!meta::visible(m)) return;
      if (there < capacity) items_[there] = {m, &slot, index};
      ++there;
    });
    if (there <= capacity) break;
    // The list gets room for some more, because other threads may attach just now. A list that is
    // too short would leave out those with the highest indices, which may be old ones.
    capacity = there + there / 8 + 16;
    if (items_ != few_) memory_->release(items_);
    items_ = few_;
    if (memory_ == nullptr) return false;
    void* memory = memory_->allocate(capacity * sizeof(Item));
    if (memory == nullptr) return false;
    items_ = static_cast<Item*>(memory);
  }
  count_ = there;
  // The clock is read after the slots. Their loads acquire, so the clock is at least the number of
  // each: no age is negative, and all are right modulo 2^35.
  horizon_ = table_.clock.load(kRelaxed);
  for (Item* i = items_; i != items_ + count_; ++i) i->age = meta::age(i->age, horizon_);
  // Attributes that were set in the order of their keyvals, as most are, are sorted already.
  const auto older = [](const Item& a, const Item& b) { return a.age > b.age; };
  if (!std::is_sorted(items_, items_ + count_, older)) std::sort(items_, items_ + count_, older);
  return true;
}

void Batch::select() {
  table_.for_each([this](uint32_t index, Pair& slot) {
    const uint64_t m = slot.load_meta();
    if (!meta::visible(m)) return;
    uint64_t age = meta::age(m, horizon_);
    if (order_ == Order::kOldestFirst) {
      // What was attached since the horizon comes last. It must not be left out, because it may
      // have replaced an attribute that was there. It is ordered by its index, so that it isn't
      // selected again if it is replaced again.
      age = age < kYounger ? kIndices + age : kIndices - 1 - index;
    }
    if (age - youngest_ < span_) insert({age, &slot, index});
  });
  if (count_ < kFew) {
    exhausted_ = true;
  } else if (order_ == Order::kOldestFirst) {
    span_ = items_[kFew - 1].age;
  } else {
    const uint64_t had = items_[0].age + 1;
    span_ -= had - youngest_;
    youngest_ = had;
  }
}

// Inserts an item into the batch in order. If the batch is full, the item that is last in the order
// of batches is dropped.
void Batch::insert(const Item& item) {
  Item* const end = items_ + count_;
  Item* at = end;
  while (at != items_ && at[-1].age < item.age) --at;
  if (count_ < kFew) {
    std::move_backward(at, end, end + 1);
    ++count_;
  } else if (order_ == Order::kOldestFirst) {
    if (at == end) return;
    std::move_backward(at, end - 1, end);
  } else {
    if (at == items_) return;
    --at;
    std::move(items_ + 1, at + 1, items_);
  }
  *at = item;
}

}  // namespace attrcache
