// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/batch.h"

#include <algorithm>
#include <cstring>

namespace attrcache {

// Makes room for `capacity` items, and keeps the first `used`.
bool Batch::make_room(size_t capacity, size_t used) {
  void* memory = memory_ != nullptr ? memory_->allocate(capacity * sizeof(Item)) : nullptr;
  if (memory == nullptr) return false;
  std::memcpy(memory, room_, used * sizeof(Item));
  release_memory();
  room_ = static_cast<Item*>(memory);
  capacity_ = capacity;
  return true;
}

// Lists the runs of slots, in the order of their indices: for each its first slot, the index of
// that slot and, as `meta`, its length. Adds up the lengths. False: there is no memory.
bool Batch::list_runs(size_t* slots) {
  bool ascending = true;
  uint32_t last = 0;
  const bool full = table_.any_run([&](uint32_t first, Pair* run, uint32_t length) {
    // Each run of a full list has about 8 slots, so 24 times the room isn't too much.
    if (count_ == capacity_ && !make_room(24 * capacity_, count_)) return true;
    room_[count_++] = {length, run, first};
    *slots += length;
    if (first < last) ascending = false;
    last = first;
    return false;
  });
  // The tree is walked in the order of reversed numbers.
  const auto before = [](const Item& a, const Item& b) { return a.index < b.index; };
  if (!full && !ascending) std::sort(room_, room_ + count_, before);
  return !full;
}

inline void Batch::begin_at(Item* end) {
  items_ = end;
  in_order_ = true;
  next_ = ~uint64_t{0};
}

// Lists the attributes of a run in front of those that are listed. The last slots come first.
[[gnu::always_inline]] inline void Batch::list(Pair* run, uint32_t length, uint32_t first) {
  uint32_t index = first + length;
  Item* items = items_;
  uint64_t next = next_;
  for (Pair* slot = run + length; slot != run;) {
    --slot;
    --index;
    const uint64_t m = slot->load_meta();
    if (!meta::visible(m)) {
      passed_over_ |= m;
      continue;
    }
    const uint64_t number = meta::sequence(m);
    if (number >= next) in_order_ = false;
    next = number;
    *--items = {m, slot, index};
  }
  items_ = items;
  next_ = next;
}

inline void Batch::sort() {
  // The clock is read after the slots. Their loads acquire, so the clock is at least the number of
  // each: no age is negative, and all are right modulo 2^35.
  const uint64_t now = meta::spread(table_.now());
  // Attributes that were set in the order of their keyvals, as most are, are sorted already, unless
  // the clock has come round to 0 between the first and the last.
  if (count_ == 0 || (in_order_ && meta::sequence(items_[count_ - 1].meta) <= now)) return;
  sort_by_age(now);
}

void Batch::sort_by_age(uint64_t now) {
  const auto age = [now](const Item& i) {
    return (now - meta::sequence(i.meta)) & meta::kSequence;
  };
  std::sort(items_, items_ + count_,
            [age](const Item& a, const Item& b) { return age(a) > age(b); });
}

// Lists and sorts all attributes. False: there is no memory for the list.
bool Batch::list_all() {
  Item* end = few_ + kFew;
  Directory* dir = table_.directory.load(kAcquire);  // as T1
  if (dir == nullptr || dir->made.load(kRelaxed) == nullptr) {
    begin_at(end);
    if (dir != nullptr) list(dir->first_slots, kLeafSlots - kInlineSlots, kInlineSlots);
    list(table_.inline_slots, kInlineSlots, 0);
  } else {
    size_t slots = 0;
    if (!list_runs(&slots)) return false;
    if (slots > capacity_ && !make_room(slots, count_)) return false;
    // No run is overwritten before it is read, because each has at least one slot.
    end = room_ + slots;
    begin_at(end);
    while (count_ != 0) {
      const Item run = room_[--count_];
      list(run.slot, static_cast<uint32_t>(run.meta), run.index);
    }
  }
  count_ = static_cast<unsigned>(end - items_);
  sort();
  return true;
}

// The same for the next run alone.
void Batch::list_run() {
  Item next = {0, nullptr, kEnd};
  table_.any_run([&](uint32_t first, Pair* run, uint32_t length) {
    if (first >= from_ && first < next.index) next = {length, run, first};
    return false;
  });
  from_ = next.slot != nullptr ? next.index + 1 : kEnd;
  begin_at(few_ + kFew);
  if (next.slot != nullptr) list(next.slot, static_cast<uint32_t>(next.meta), next.index);
  count_ = static_cast<unsigned>(few_ + kFew - items_);
  sort();
}

bool Batch::select() {
  if (from_ == 0 && list_all()) {
    from_ = kEnd;
    return count_ != 0;
  }
  release_memory();
  do list_run();
  while (from_ != kEnd && count_ == 0);
  return count_ != 0;
}

}  // namespace attrcache
