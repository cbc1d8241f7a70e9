// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The get path: index, one 16-byte load, one masked compare. Wait-free; no read-modify-write,
// fence, call or store but the result's. What isn't attached in a near slot leaves by a jump:
// get_absent, get_far, get_slowly.

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
  SlotContent word;
};

// Looks for the attached, visible value under `keyval`. ATTRCACHE_OK, ATTRCACHE_ABSENT, or an
// error.
int find_attribute(const Registry& registry, const Table& table, uint32_t keyval, Found* found);

// What get does when the slot at `offset`, a near one, doesn't hold the keyval: absence, errors.
[[gnu::noinline]] int get_absent(const attrcache_kind* kind, const attrcache_table* table,
                                 int keyval, void** value, uint64_t offset) noexcept;

// What get does when the slot is deep in the tree, if the keyval is one at all.
[[gnu::noinline]] int get_far(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                              void** value, uint64_t offset) noexcept;

// What get does out of line: errors.
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

enum class Look {
  kHit,         // found, and given: what was set as a C pointer
  kHitAddress,  // the same, set otherwise: given is the address of the value
  kMissInline,  // nothing that may be read is attached under this keyval, whose slot is inline
  kMiss,        // the same, of a slot further away
  kFar          // not looked: the slot is deep in the tree, or the offset that of no keyval
};

// Reads that slot as C does, if it holds `keyval`.
template <size_t kAt, Look kMissed>
[[gnu::always_inline]] inline Look read_slot(const void* base, uint64_t offset, uint32_t keyval,
                                             void** value) {
  return slot_in<kAt>(base, offset).glimpse([=](uint32_t upper, auto word_value) {
    const uint32_t differs = upper ^ keyval;
    if ((differs & meta::kSameAsPointer) == 0) [[likely]] {
      *value = reinterpret_cast<void*>(word_value());
      return Look::kHit;
    }
    if ((differs & meta::kSameAttribute) == 0) [[likely]] {
      *value = const_cast<uint64_t*>(slot_in<kAt>(base, opaque(offset)).value_address());
      return Look::kHitAddress;
    }
    return kMissed;
  });
}

// The look-up of every get, in C and through MPI: into the slot of `keyval`, whose offset the
// caller has made opaque, if it is a near one. An answer for each way out, so that each can become
// a return or a jump.
[[gnu::always_inline]] inline Look look(const attrcache_table* table, uint32_t keyval,
                                        uint64_t offset, void** value) {
  if (offset < kInlineSlots << id::kIndexShift) [[likely]] {
    constexpr size_t kAt = offsetof(Table, inline_slots);
    return read_slot<kAt, Look::kMissInline>(table, offset, keyval, value);
  }
  if (offset >= kDirectorySlots << id::kIndexShift) return Look::kFar;
  const Directory* dir = Table::of(table).directory.load(kAcquire);  // as T1
  if (dir == nullptr) return Look::kMiss;
  constexpr unsigned kLeafShift = 7;
  constexpr uint32_t kWithin = (kLeafSlots - 1) << id::kIndexShift;
  static_assert(sizeof(Leaf) == 1u << kLeafShift);
  const Leaf* leaf = dir->leaves[offset >> kLeafShift].load(kAcquire);  // as T1
  return read_slot<0, Look::kMiss>(leaf, keyval & kWithin, keyval, value);
}

// The same for a far offset, true for a hit: down the tree, level by level, with no loop and no
// variable shift. A tree of height h reaches the offsets of 7 + 4h bits; one of height 0 (there is
// none), no far one; and none reaches what is the offset of no keyval.
template <unsigned kHeight>
[[gnu::always_inline]] inline bool look_below(const void* node, uint64_t offset, uint32_t keyval,
                                              void** value) {
  if constexpr (kHeight == 0) {
    constexpr uint32_t kWithin = (kLeafSlots - 1) << id::kIndexShift;
    return read_slot<0, Look::kMiss>(node, keyval & kWithin, keyval, value) != Look::kMiss;
  } else {
    const uint64_t child = offset >> (4 * kHeight + 3) & (kFanout - 1);
    const void* below = static_cast<const Node*>(node)->children[child].load(kAcquire);  // as T1
    if (below == nullptr) [[unlikely]]
      return false;
    return look_below<kHeight - 1>(below, offset, keyval, value);
  }
}

template <unsigned kHeight>
[[gnu::always_inline]] inline bool look_from(uintptr_t root, uint64_t offset, uint32_t keyval,
                                             void** value) {
  if (offset >> (4 * kHeight + 7) != 0) [[unlikely]]
    return false;
  return look_below<kHeight>(tree::node(root), offset, keyval, value);
}

[[gnu::always_inline]] inline bool look_far(const attrcache_table* table, uint32_t keyval,
                                            uint64_t offset, void** value) {
  static_assert(sizeof(Leaf) == 128 && kFanout == 16 && id::kIndexShift == 4);
  const Directory* dir = Table::of(table).directory.load(kAcquire);  // as T1
  if (dir == nullptr) [[unlikely]]
    return false;
  const uintptr_t root = dir->root.load(kAcquire);  // as T1
  switch (tree::height(root)) {
    case 1:
      return look_from<1>(root, offset, keyval, value);
    case 2:
      return look_from<2>(root, offset, keyval, value);
    case 3:
      return look_from<3>(root, offset, keyval, value);
    case 4:
      return look_from<4>(root, offset, keyval, value);
    default:
      return false;
  }
}

// `kReturned`: the caller returns the result as it is, rather than looking at it.
template <bool kReturned>
[[gnu::always_inline]] inline int get_for(const attrcache_kind* kind, const attrcache_table* table,
                                          int keyval, void** value) {
  const auto key = static_cast<uint32_t>(keyval);
  const uint64_t offset = opaque(uint64_t{id::slot_offset(key)});
  if (table == nullptr || value == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  switch (look(table, key, offset, value)) {
    case Look::kHit:
      return ATTRCACHE_OK;
    case Look::kHitAddress:
      // Made opaque, it becomes a return of its own, not a jump to the other one.
      return kReturned ? opaque(int{ATTRCACHE_OK}) : ATTRCACHE_OK;
    case Look::kMissInline:
      return get_absent(kind, table, keyval, value, offset);
    case Look::kMiss:  // computed again, so that a hit may have shifted it in place
      return get_absent(kind, table, keyval, value, id::offset(opaque(key)));
    default:
      return get_far(kind, table, keyval, value, offset);
  }
}

[[gnu::always_inline]] inline int get(const attrcache_kind* kind, const attrcache_table* table,
                                      int keyval, void** value) {
  return get_for<false>(kind, table, keyval, value);
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_GET_H_
