// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/batch.h"

#include <algorithm>
#include <cstring>

namespace attrcache {

bool Batch::make_room() {
  const size_t count = end_ - items_, capacity = 16 * count;
  void* memory = memory_ != nullptr ? memory_->allocate(capacity * sizeof(Item)) : nullptr;
  if (memory == nullptr) return false;
  std::memcpy(memory, items_, count * sizeof(Item));
  if (items_ != few_) memory_->release(items_);
  items_ = static_cast<Item*>(memory);
  end_ = items_ + count;
  limit_ = items_ + capacity;
  return true;
}

bool Batch::select() {
  const Pair* before = last_;
  end_ = items_;
  all_ = !table_.any_run([&](uint32_t first, Pair* run, uint32_t length) {
    for (Pair* slot = run; slot != run + length; ++slot, ++first) {
      if (before != nullptr) [[unlikely]] {
        if (before == slot) before = nullptr;
        continue;
      }
      const uint64_t m = slot->load_meta();
      if (!meta::visible(m)) continue;
      if (end_ == limit_ && !make_room()) {
        last_ = end_[-1].slot;
        return true;
      }
      *end_++ = {m, slot, first};
    }
    return false;
  });
  // The clock is read after the slots. Their loads acquire, so the clock is at least the number of
  // each: no age is negative, and all are right modulo 2^35.
  const uint64_t now = meta::spread(table_.now());
  const auto age = [now](const Item& item) {
    return (now - meta::sequence(item.meta)) & meta::kSequence;
  };
  const auto older = [age](const Item& a, const Item& b) { return age(a) > age(b); };
  // Attributes that were set in the order of their keyvals, as most are, are sorted already.
  if (!std::is_sorted(items_, end_, older)) std::sort(items_, end_, older);
  return end_ != items_;
}

}  // namespace attrcache
