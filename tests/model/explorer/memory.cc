// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/explorer/memory.h"

#include <cstdio>
#include <cstdlib>

#include "tests/model/explorer/heap.h"

namespace attrcache::model {

Bits updated(Update how, Bits before, Bits operand, unsigned size) {
  Bits after = operand;
  if (how == Update::kAdd) after = {before.lo + operand.lo, before.hi + operand.hi};
  if (how == Update::kOr) after = {before.lo | operand.lo, before.hi | operand.hi};
  if (how == Update::kAnd) after = {before.lo & operand.lo, before.hi & operand.hi};
  if (size < 8) after.lo &= (uint64_t{1} << 8 * size) - 1;  // an addition may carry beyond
  return after;
}

bool same(Bits a, Bits b, Bits mask) {
  return (((a.lo ^ b.lo) & mask.lo) | ((a.hi ^ b.hi) & mask.hi)) == 0;
}

Bits merged(Bits before, Bits desired, Bits mask) {
  return {(before.lo & ~mask.lo) | (desired.lo & mask.lo),
          (before.hi & ~mask.hi) | (desired.hi & mask.hi)};
}

namespace {

[[noreturn]] void out_of(const char* what) {
  std::fprintf(stderr, "model: more %s than the explorer provides for\n", what);
  std::abort();
}

}  // namespace

Memory::Memory() : table_(kTableSize), messages_(kMaxMessages), views_(kMaxMessages) {}

void Memory::clear() {
  for (Location& location : table_) location = {};
  locations_ = 0;
}

void Memory::begin() {
  ++execution_;
  next_entry_ = View::kFirstLocation;
  next_message_ = 0;
  next_view_ = 1;
}

Location& Memory::find(const Access& access) {
  const auto address = reinterpret_cast<uintptr_t>(access.address);
  uint64_t at = (address >> 3) * 0x9e3779b97f4a7c15u >> 52;
  while (table_[at].address != address) {
    if (table_[at].address == 0) {
      if (++locations_ > kTableSize / 2) out_of("locations");
      table_[at].address = address;
      break;
    }
    at = (at + 1) & (kTableSize - 1);
  }
  Location& location = table_[at];
  if (location.execution == execution_) return location;
  location.execution = execution_;
  location.accessed_by = 0;
  location.written = false;
  location.block = heap().block_of(access.address);
  if (location.contended) {
    if (next_entry_ == View::kEntries) out_of("contended locations");
    location.entry = static_cast<uint16_t>(next_entry_++);
    location.newest = next_message_++;
    messages_[location.newest] = {read_bytes(access.address, access.size), 0, 0, 0};
  }
  return location;
}

bool Memory::note_access(Location& location, unsigned thread, bool writes) {
  location.accessed_by |= static_cast<uint8_t>(1u << thread);
  location.written |= writes;
  if (location.written && (location.accessed_by & (location.accessed_by - 1)) != 0) {
    location.contended = true;
    return true;
  }
  return false;
}

unsigned Memory::readable(const Location& location, const View& view) const {
  return messages_[location.newest].time - view.at[location.entry] + 1u;
}

uint16_t Memory::nth(const Location& location, unsigned n) const {
  uint16_t index = location.newest;
  while (n-- > 0) index = messages_[index].older;
  return index;
}

void Memory::load(Location& location, View& view, uint16_t index, std::memory_order order) {
  const Message& read = messages_[index];
  view.at[location.entry] = read.time;
  if (acquires(order) && read.view != 0) view.join(views_[read.view]);
}

void Memory::store(Location& location, View& view, Bits value, std::memory_order order,
                   bool update) {
  if (next_message_ == kMaxMessages) out_of("stores");
  const Message before = messages_[location.newest];
  const auto time = static_cast<uint16_t>(before.time + 1);
  if (update && acquires(order) && before.view != 0) view.join(views_[before.view]);
  view.at[location.entry] = time;
  uint16_t carried = update ? before.view : uint16_t{0};
  if (releases(order)) {
    const uint16_t made = next_view_++;
    views_[made] = view;
    if (carried != 0) views_[made].join(views_[carried]);
    carried = made;
  }
  messages_[next_message_] = {value, location.newest, time, carried};
  location.newest = next_message_++;
}

void Memory::foretell(const Location& location, View& view, std::memory_order order) const {
  const Message& before = messages_[location.newest];
  if (acquires(order) && before.view != 0) view.join(views_[before.view]);
  view.at[location.entry] = static_cast<uint16_t>(before.time + 1);
}

}  // namespace attrcache::model
