// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The hot path of an MPI get in C: one look into the handle map and one into the attribute table.
// Whatever isn't a hit at first sight leaves by a tail call, so that the hit saves and restores no
// registers.

#ifndef ATTRCACHE_MPI_ENTRIES_GET_FAST_H_
#define ATTRCACHE_MPI_ENTRIES_GET_FAST_H_

#include "mpi/objects/anchor.h"
#include "mpi/objects/process.h"
#include "table/get.h"

namespace attrcache::mpi {

// Answers a miss. If the keyval exists, the attribute is absent; if not, that is an error, which
// Slow raises.
template <typename Kind, auto Slow>
[[gnu::always_inline]] inline int answer_miss(typename Kind::Handle handle, int keyval, void* value,
                                              int* flag) {
  const Registry& registry = Registry::of(kind_of<Kind>());
  if (registry.look_up(inner(keyval)) == 0) [[unlikely]] {
    return Slow(handle, keyval, value, flag);
  }
  *flag = 0;
  // opaque() keeps the compiler from merging this return with the hit's, which would cost a jump
  return opaque(int{MPI_SUCCESS});
}

// Answers a get whose slot is deep in the table's tree.
template <typename Kind, auto Slow>
[[gnu::noinline]] int answer_far(typename Kind::Handle handle, int keyval, void* value, int* flag,
                                 const attrcache_table* table) {
  const id::Keyval key = inner(keyval);
  if (!look_far(table, key, id::bytes(id::offset(key)), static_cast<void**>(value))) {
    return answer_miss<Kind, Slow>(handle, keyval, value, flag);
  }
  *flag = 1;
  return MPI_SUCCESS;
}

// A get of a keyval of attrcache's. `Slow` answers all but the common cases.
template <typename Kind, auto Slow>
[[gnu::always_inline]] inline int get_attr_fast(typename Kind::Handle handle, int keyval,
                                                void* value, int* flag) {
  void* found;
  if (value == nullptr || flag == nullptr ||
      !objects<Kind>.find_at_home(facts::to_key(handle), &found)) [[unlikely]] {
    return Slow(handle, keyval, value, flag);
  }
  const attrcache_table* table = &static_cast<const Anchor*>(found)->table;
  const id::Keyval key = inner(keyval);
  // ours(keyval) holds, so the offset is well formed
  const uint64_t offset = opaque(uint64_t{id::bytes(id::offset(key))});
  switch (look(table, key, offset, static_cast<void**>(value))) {
    case Look::kHit:
    case Look::kHitAddress:
      *flag = 1;
      return MPI_SUCCESS;
    case Look::kMissInline:
    case Look::kMiss:
      return answer_miss<Kind, Slow>(handle, keyval, value, flag);
    default:
      return answer_far<Kind, Slow>(handle, keyval, value, flag, table);
  }
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_GET_FAST_H_
