// SPDX-License-Identifier: Apache-2.0
//
// The hot path of an MPI get in C: one look into the map, one into the table. Whatever isn't a hit
// at first sight leaves by a tail call, so that nothing is saved or restored on the way.

#ifndef ATTRCACHE_MPI_HOT_H_
#define ATTRCACHE_MPI_HOT_H_

#include "mpi/anchor.h"
#include "table/get.h"

namespace attrcache::mpi {

enum class Look { kHit, kMiss, kFar };

// Looks into the slot of `keyval`, if it is one of the table's near ones. kMiss: nothing that may
// be read is attached there under this keyval, if there is such a keyval at all.
[[gnu::always_inline]] inline Look look(const attrcache_table& table, int keyval, void** value) {
  const auto key = static_cast<uint32_t>(keyval);
  const uint64_t offset = opaque(uint64_t{key & id::kOffsetMask});
  if (offset < kInlineSlots << id::kIndexShift) [[likely]] {
    constexpr size_t kAt = offsetof(Table, inline_slots);
    return read_slot<kAt>(&table, offset, key, value) ? Look::kHit : Look::kMiss;
  }
  if (offset >= kDirectorySlots << id::kIndexShift) return Look::kFar;
  const Directory* dir = Table::of(&table).directory.load(kAcquire);  // as T1
  if (dir == nullptr) return Look::kMiss;
  constexpr unsigned kLeafShift = 7;
  constexpr uint32_t kWithin = (kLeafSlots - 1) << id::kIndexShift;
  static_assert(sizeof(Leaf) == 1u << kLeafShift);
  const Leaf* leaf = dir->leaves[offset >> kLeafShift].load(kAcquire);  // as T1
  return read_slot<0>(leaf, key & kWithin, key, value) ? Look::kHit : Look::kMiss;
}

// After a miss: whether the keyval exists decides between "absent" and an error.
template <typename Kind, auto Slow>
[[gnu::always_inline]] inline int answer_miss(typename Kind::Handle handle, int keyval, void* value,
                                              int* flag) {
  const auto* registry = reinterpret_cast<const Registry*>(kind_of<Kind>());
  if (registry->look_up(static_cast<uint32_t>(keyval)) == 0) [[unlikely]] {
    return Slow(handle, keyval, value, flag);
  }
  *flag = 0;
  return MPI_SUCCESS;
}

// A slot deep in the tree.
template <typename Kind, auto Slow>
[[gnu::noinline]] int answer_far(typename Kind::Handle handle, int keyval, void* value, int* flag) {
  const Anchor* anchor = find_anchor<Kind>(handle);
  const int result = anchor != nullptr ? get_slowly(kind_of<Kind>(), &anchor->table, keyval,
                                                    static_cast<void**>(value))
                                       : ATTRCACHE_ERR_NULL;
  if (result > ATTRCACHE_ABSENT) [[unlikely]]
    return Slow(handle, keyval, value, flag);
  *flag = result == ATTRCACHE_OK;
  return MPI_SUCCESS;
}

// A get of a keyval of ours; `Slow` answers all but the common cases.
template <typename Kind, auto Slow>
[[gnu::always_inline]] inline int hot_get(typename Kind::Handle handle, int keyval, void* value,
                                          int* flag) {
  void* anchor;
  if (value == nullptr || flag == nullptr ||
      !objects<Kind>.find_near(facts::to_key(handle), &anchor)) [[unlikely]] {
    return Slow(handle, keyval, value, flag);
  }
  switch (look(static_cast<Anchor*>(anchor)->table, keyval, static_cast<void**>(value))) {
    case Look::kHit:
      *flag = 1;
      return MPI_SUCCESS;
    case Look::kMiss:
      return answer_miss<Kind, Slow>(handle, keyval, value, flag);
    default:
      return answer_far<Kind, Slow>(handle, keyval, value, flag);
  }
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_HOT_H_
