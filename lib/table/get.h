// SPDX-License-Identifier: Apache-2.0
//
// The get path: index, one 16-byte load, one masked compare. Wait-free; no read-modify-write,
// fence, call or store but the result's. Whatever isn't an attached C pointer in a near slot leaves
// through get_slowly.

#ifndef ATTRCACHE_TABLE_GET_H_
#define ATTRCACHE_TABLE_GET_H_

#include <cstdint>

#include "callback/language.h"
#include "keyval/registry.h"
#include "table/meta.h"
#include "table/table.h"

namespace attrcache {

// An attribute as found: where its slot is, and what was in it at one instant.
struct Found {
  const Pair* slot;
  Word word;
};

// Looks for the attached, visible value under `keyval`. ATTRCACHE_OK, ATTRCACHE_ABSENT, or an
// error.
int find_attribute(const Registry& registry, const Table& table, uint32_t keyval, Found* found);

// What get does when the slot at `offset`, a near one, doesn't hold the keyval: absence, errors.
[[gnu::noinline]] int get_absent(const attrcache_kind* kind, const attrcache_table* table,
                                 int keyval, void** value, uint64_t offset) noexcept;

// What get does out of line: deep slots, errors.
[[gnu::noinline, gnu::cold]] int get_slowly(const attrcache_kind* kind,
                                            const attrcache_table* table, int keyval,
                                            void** value) noexcept;

// The same value, about which the compiler knows nothing any more. It keeps it from splitting one
// computation in two (offset, 32 and 64 bits wide), or from computing on the hot path what only a
// cold one needs.
template <typename T>
[[gnu::always_inline]] inline T opaque(T value) {
  asm("" : "+r"(value));
  return value;
}

// The slot `kAt + offset` bytes into something.
template <size_t kAt>
const Pair& slot_in(const void* base, uint64_t offset) {
  return *reinterpret_cast<const Pair*>(static_cast<const char*>(base) + kAt + offset);
}

// Reads that slot as C does, if it holds `keyval`; false: it doesn't, or isn't visible.
template <size_t kAt>
[[gnu::always_inline]] inline bool read_slot(const void* base, uint64_t offset, uint32_t keyval,
                                             void** value) {
  return slot_in<kAt>(base, offset).glimpse([=](uint32_t upper, auto word_value) {
    const uint32_t differs = upper ^ keyval;
    if ((differs & meta::kSameAsPointer) == 0) [[likely]] {
      *value = reinterpret_cast<void*>(word_value());
      return true;
    }
    if ((differs & meta::kSameAttribute) == 0) [[likely]] {
      *value = const_cast<uint64_t*>(slot_in<kAt>(base, opaque(offset)).value_address());
      return true;
    }
    return false;
  });
}

[[gnu::always_inline]] inline int get(const attrcache_kind* kind, const attrcache_table* table,
                                      int keyval, void** value) {
  const auto key = static_cast<uint32_t>(keyval);
  const uint64_t offset = opaque(uint64_t{id::slot_offset(key)});
  if (table == nullptr || value == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  if (offset >= kInlineSlots << id::kIndexShift) [[unlikely]] {
    if (offset >= kDirectorySlots << id::kIndexShift) return get_slowly(kind, table, keyval, value);
    const Directory* dir = Table::of(table).directory.load(kAcquire);  // as T1
    if (dir == nullptr) return get_slowly(kind, table, keyval, value);
    constexpr unsigned kLeafShift = 7;
    constexpr uint32_t kWithin = (kLeafSlots - 1) << id::kIndexShift;
    static_assert(sizeof(Leaf) == 1u << kLeafShift);
    const Leaf* leaf = dir->leaves[offset >> kLeafShift].load(kAcquire);  // as T1
    if (read_slot<0>(leaf, key & kWithin, key, value)) [[likely]]
      return ATTRCACHE_OK;
    return get_absent(kind, table, keyval, value, id::offset(opaque(key)));
  } else {
    constexpr size_t kAt = offsetof(Table, inline_slots);
    if (read_slot<kAt>(table, offset, key, value)) [[likely]]
      return ATTRCACHE_OK;
  }
  return get_absent(kind, table, keyval, value, offset);
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_GET_H_
