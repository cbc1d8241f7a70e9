// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/batch.h"

#include <algorithm>
#include <cstring>

namespace attrcache {

Batch::Item* Batch::make_room() {
  const size_t count = limit_ - items_, capacity = 16 * count;
  void* memory = memory_.allocate(capacity * sizeof(Item));
  if (memory == nullptr) return nullptr;
  std::memcpy(memory, items_, count * sizeof(Item));
  if (items_ != few_) memory_.release(items_);
  items_ = static_cast<Item*>(memory);
  limit_ = items_ + capacity;
  return items_ + count;
}

bool Batch::select() {
  const Pair* before = last_;
  Item* end = items_;
  const auto is_full = [&](uint32_t first, Pair* run, uint32_t length) {
    for (Pair* slot = run; slot != run + length; ++slot, ++first) {
      if (before != nullptr) [[unlikely]] {
        if (before == slot) before = nullptr;
        continue;
      }
      const uint64_t m = slot->load_meta();
      if (!meta::visible(m)) continue;
      if (end == limit_ && (end = make_room()) == nullptr) {
        last_ = limit_[-1].slot;
        end = limit_;
        return true;
      }
      *end++ = {m, slot, first};
    }
    return false;
  };
  all_ = !table_.any_run(is_full, last_ != nullptr);  // or it might pass over `last_`
  end_ = end;
  // The clock is read after the slots. Their loads acquire, so the clock is at least the number of
  // each: no age is negative, and all are right modulo 2^35.
  const uint64_t now = table_.now() & meta::kNumbers;
  const auto age = [now](const Item& item) {
    return (now - meta::sequence(item.meta)) & meta::kNumbers;
  };
  const auto older = [age](const Item& a, const Item& b) { return age(a) > age(b); };
  if (end == items_) return false;
  // Attributes that were set in the order of their keyvals, as most are, are sorted already.
  // (Numbers that rise although they have come round are no order: the last is above the clock.)
  const auto below = [](const Item& a, const Item& b) {
    return meta::sequence(a.meta) < meta::sequence(b.meta);
  };
  if (meta::sequence(end[-1].meta) > now || !std::is_sorted(items_, end, below))
    std::sort(items_, end, older);
  return true;
}

}  // namespace attrcache
