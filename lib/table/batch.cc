// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/batch.h"

#include <algorithm>
#include <cstring>

#include "platform/memory.h"

namespace attrcache {
namespace {

// select() reads the horizon before the slots. So what was attached after that has a negative age,
// which modulo 2^35 is above kYounger; no other age is (see renumber.h).
constexpr uint64_t kYounger =
    (uint64_t{1} << meta::kSequenceBits) - (uint64_t{1} << (meta::kSequenceBits - 2));
constexpr uint64_t kIndices = uint64_t{id::kOffsetMask >> id::kIndexShift} + 1;

}  // namespace

bool Batch::find_next() {
  if (!begun_) {
    begun_ = true;
    if (list_all()) {
      exhausted_ = true;
      return count_ != 0;
    }
    release_memory();
    count_ = 0;
    horizon_ = table_.now();
    next_ = order_ == Order::kYoungestFirst ? 0 : kYounger + kIndices;
  }
  select();
  return count_ != 0;
}

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
  bool room = true;
  bool ascending = true;
  uint32_t last = 0;
  table_.for_each_run([&](uint32_t first, Pair* run, uint32_t length) {
    // Each run of a full list has about 8 slots, so 24 times the room isn't too much.
    room = room && (count_ < capacity_ || make_room(24 * capacity_, count_));
    if (!room) return;
    room_[count_++] = {length, run, first};
    *slots += length;
    if (first < last) ascending = false;
    last = first;
  });
  // The tree is walked in the order of reversed numbers.
  const auto before = [](const Item& a, const Item& b) { return a.index < b.index; };
  if (room && !ascending) std::sort(room_, room_ + count_, before);
  return room;
}

// Lists and sorts all attributes. False: there is no memory for the list.
bool Batch::list_all() {
  // The last slots come first, and the list grows downwards from the end of the room.
  Item* end = few_ + kFew;
  Item* item = end;
  bool ascending = true;
  uint64_t next = ~uint64_t{0};
  const auto list = [&](Pair * run, uint32_t length, uint32_t first)
      __attribute__((always_inline)) {
    uint32_t index = first + length;
    for (Pair* slot = run + length; slot != run;) {
      --slot;
      --index;
      const uint64_t m = slot->load_meta();
      if (!meta::visible(m)) {
        passed_over_ |= m;
        continue;
      }
      const uint64_t number = meta::sequence(m);
      if (number >= next) ascending = false;
      next = number;
      *--item = {m, slot, index};
    }
  };
  Directory* dir = table_.directory.load(kAcquire);  // as T1
  if (dir == nullptr || !dir->has(Directory::kHasLeaves)) {
    if (dir != nullptr) list(dir->first_slots, kLeafSlots - kInlineSlots, kInlineSlots);
    list(table_.inline_slots, kInlineSlots, 0);
  } else {
    size_t slots = 0;
    if (!list_runs(&slots)) return false;
    if (slots > capacity_ && !make_room(slots, count_)) return false;
    // No run is overwritten before it is read, because each has at least one slot.
    item = end = room_ + slots;
    while (count_ != 0) {
      const Item& run = room_[--count_];
      list(run.slot, static_cast<uint32_t>(run.meta), run.index);
    }
  }
  items_ = item;
  count_ = static_cast<unsigned>(end - item);
  // The clock is read after the slots. Their loads acquire, so the clock is at least the number of
  // each: no age is negative, and all are right modulo 2^35.
  horizon_ = table_.now();
  // Attributes that were set in the order of their keyvals, as most are, are sorted already: their
  // numbers ascend, and the clock hasn't come round to 0 between the first and the last.
  if (count_ == 0) return true;
  if (!ascending || age(0) < age(count_ - 1)) sort();
  // Attributes that old may have been renumbered between the loads of two of them, and then the
  // order isn't that of any instant. If a second look at all of them finds the same numbers, it is
  // right.
  while (age(0) >= meta::kOldAge && old_ones_changed()) [[unlikely]] sort();
  return true;
}

void Batch::sort() {
  const auto older = [horizon = meta::spread(horizon_)](const Item& a, const Item& b) {
    const auto age = [horizon](const Item& i) {
      return (horizon - meta::sequence(i.meta)) & meta::kSequence;
    };
    return age(a) > age(b);
  };
  std::sort(items_, items_ + count_, older);
}

// Looks again at those that may have been renumbered. An attribute that is gone keeps its place.
[[gnu::noinline]] bool Batch::old_ones_changed() {
  bool changed = false;
  for (Item* item = items_; item != items_ + count_; ++item) {
    if (meta::age(item->meta, horizon_) < meta::kOldAge) continue;
    const uint64_t m = item->slot->load_meta();
    if (!meta::visible(m) || meta::sequence(m) == meta::sequence(item->meta)) continue;
    item->meta = m;
    changed = true;
  }
  horizon_ = table_.now();
  return changed;
}

// The place of an attribute in the order in which select() visits them.
uint64_t Batch::rank(uint64_t m, uint32_t index) const {
  const uint64_t age = meta::age(m, horizon_);
  if (order_ == Order::kYoungestFirst) return age;
  // What was attached since the horizon comes last. It must not be left out, because it may have
  // replaced an attribute that was there. It is ordered by its index, so that it isn't selected
  // again if it is replaced again.
  return age < kYounger ? kIndices + age : kIndices - 1 - index;
}

// Selects the attribute that is next in the order.
void Batch::select() {
  const bool ascends = order_ == Order::kYoungestFirst;
  uint64_t best = 0;
  table_.for_each([&](uint32_t index, Pair& slot) {
    const uint64_t m = slot.load_meta();
    if (!meta::visible(m)) {
      passed_over_ |= m;
      return;
    }
    const uint64_t its_rank = rank(m, index);
    if (ascends ? its_rank < next_ || its_rank >= kYounger : its_rank >= next_) return;
    if (count_ != 0 && (its_rank < best) != ascends) return;
    *items_ = {m, &slot, index};
    best = its_rank;
    count_ = 1;
  });
  exhausted_ = count_ == 0;
  next_ = ascends ? best + 1 : best;
}

}  // namespace attrcache
