// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The path of get: it computes the slot's address from the keyval, loads 16 bytes, and does one
// masked compare. It is wait-free, and has no read-modify-write, no fence, no call, and no store
// but that of the result. Unless it finds a value in the slot of an index below 64, it leaves by a
// jump to get_absent or get_far.

#ifndef ATTRCACHE_TABLE_GET_H_
#define ATTRCACHE_TABLE_GET_H_

#include <cstdint>

#include "callback/language.h"
#include "keyval/registry.h"
#include "table/meta.h"
#include "table/table.h"

namespace attrcache {

// An attribute that was found: its slot, and what the slot held at one instant.
struct Found {
  const Pair* slot;
  SlotContent word;
};

// Looks for the visible value under `keyval`. Returns ATTRCACHE_OK, ATTRCACHE_ABSENT or an error.
int find_attribute(const Registry& registry, const Table& table, id::Keyval keyval, Found* found);

// A predefined value, as every language reads it.
struct PredefinedValue {
  void* in_c;     // the pointer, or the address of the int or Aint
  uint64_t bits;  // what a slot would keep
};

// Reads a predefined attribute, whose keyval has a number of the runtime's choice, outside the
// domain's own range. ATTRCACHE_OK, ATTRCACHE_ABSENT, or the error that says why there is no such
// keyval.
int get_predefined(const Registry& registry, const Table& table, int number,
                   PredefinedValue* value);

// The same for get in C. `keyval` is the number as attrcache_get_renumbered takes it.
[[gnu::noinline]] int get_outside_range(const attrcache_kind* kind, const attrcache_table* table,
                                        int keyval, void** value) noexcept;

// Continues a get whose slot, of an index below 64, doesn't hold a value under the keyval: returns
// that the attribute is absent, or which error it is.
[[gnu::noinline]] int get_absent(const attrcache_kind* kind, const attrcache_table* table,
                                 int keyval, void** value, uint64_t offset) noexcept;

// Continues a get whose offset is not that of an index below 64: the slot is in the tree, or the
// int is no keyval.
[[gnu::noinline]] int get_far(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                              void** value, uint64_t offset) noexcept;

// Does the whole get, for all that is left, mostly errors.
[[gnu::noinline, gnu::cold]] int get_slowly(const attrcache_kind* kind,
                                            const attrcache_table* table, int keyval,
                                            void** value) noexcept;

// Returns the value, but hides from the compiler where it comes from. That keeps the compiler from
// computing the same thing twice (an offset with 32 and with 64 bits, say), and from computing on
// the hot path what only a cold one needs.
template <typename T>
[[gnu::always_inline]] inline T opaque(T value) {
  asm("" : "+r"(value));
  return value;
}

// The slot at `kAt + offset` bytes from the address `base`.
template <size_t kAt>
const Pair& slot_in(const void* base, uint64_t offset) {
  return *reinterpret_cast<const Pair*>(static_cast<const char*>(base) + kAt + offset);
}

enum class Look {
  kHit,         // found: the value was set as a C pointer, and *value is that pointer
  kHitAddress,  // found: the value was set otherwise, and *value is its address
  kMissInline,  // the slot, which is in the table itself, has no visible value under this keyval
  kMiss,        // the same for a slot in a leaf
  kFar          // did not look: the slot is in the tree, or the offset is that of no keyval
};

// Reads the slot at `kAt + offset` bytes from `base` as C sees it, if its value is under `keyval`.
template <size_t kAt, Look kMissed>
[[gnu::always_inline]] inline Look read_slot(const void* base, uint64_t offset, id::Keyval keyval,
                                             void** value) {
  return slot_in<kAt>(base, offset).glimpse([=](uint32_t upper, auto word_value) {
    const uint32_t differs = upper ^ id::bits(keyval);
    if ((differs & meta::kSameAsPointer) == 0) [[likely]] {
      *value = as_pointer(word_value());
      return Look::kHit;
    }
    if ((differs & meta::kSameAttribute) == 0) [[likely]] {
      *value = address_for_c(slot_in<kAt>(base, opaque(offset)).value_address(),
                             meta::tag(uint64_t{upper} << 32));
      return Look::kHitAddress;
    }
    return kMissed;
  });
}

// The look-up that every get of the C API begins with. It looks into the slot of
// `keyval` if the index is below 64. The caller has made `offset` opaque. Each way to end has its
// own result, so that the compiler can make each a return or a jump.
[[gnu::always_inline]] inline Look look(const attrcache_table* table, id::Keyval keyval,
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
  return read_slot<0, Look::kMiss>(leaf, id::bits(keyval) & kWithin, keyval, value);
}

// The same for a far offset, true for a hit.
[[gnu::always_inline]] inline bool look_far(const attrcache_table* table, id::Keyval keyval,
                                            uint64_t offset, void** value) {
  constexpr uint32_t kWithin = (kLeafSlots - 1) << id::kIndexShift;
  const Directory* dir = Table::of(table).directory.load(kAcquire);  // as T1
  if (dir == nullptr) [[unlikely]]
    return false;
  const FarLeaf* leaf = dir->find_leaf(static_cast<uint32_t>(offset / sizeof(Leaf)));
  return leaf != nullptr &&
         read_slot<0, Look::kMiss>(leaf, id::bits(keyval) & kWithin, keyval, value) != Look::kMiss;
}

// get, to be inlined. `kReturned` says that the caller returns the result without looking at it.
template <bool kReturned>
[[gnu::always_inline]] inline int get_for(const attrcache_kind* kind, const attrcache_table* table,
                                          int keyval, void** value) {
  const id::Keyval key = id::of(keyval);
  const uint64_t offset = opaque(uint64_t{id::bytes(id::slot_offset(key))});
  if (table == nullptr || value == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  switch (look(table, key, offset, value)) {
    case Look::kHit:
      return ATTRCACHE_OK;
    case Look::kHitAddress:
      // Otherwise the compiler would merge this return with that of kHit, at the cost of a jump.
      return kReturned ? opaque(int{ATTRCACHE_OK}) : ATTRCACHE_OK;
    case Look::kMissInline:
      return get_absent(kind, table, keyval, value, offset);
    case Look::kMiss:  // computes the offset again, so that a hit need not keep it
      return get_absent(kind, table, keyval, value, id::bytes(id::offset(opaque(key))));
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
