// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The hot path of an MPI get in C: one look into the handle map and one into the attribute table.
// Whatever isn't a hit at first sight leaves by a tail call, so that the hit saves and restores no
// registers.

#ifndef ATTRCACHE_MPI_ENTRIES_GET_FAST_H_
#define ATTRCACHE_MPI_ENTRIES_GET_FAST_H_

#include "attrcache/attrcache_inline.h"
#include "mpi/objects/anchor.h"
#include "mpi/objects/process.h"

namespace attrcache::mpi {

// A keyval as it would be in a domain without `numbers`.
inline int renumbered(int keyval) { return static_cast<int>(id::bits(inner(keyval))); }

// Answers a get whose slot is deep in the table's tree.
template <typename Kind, auto Slow>
[[gnu::noinline]] int get_attr_far(typename Kind::Handle handle, int keyval, void* value, int* flag,
                                   const attrcache_table* table) {
  if (!attrcache_inline_find_far(table, renumbered(keyval), static_cast<void**>(value)))
    return Slow(handle, keyval, value, flag);
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
  const attrcache_table* const table = &static_cast<const Anchor*>(found)->table;
  if (table == nullptr) __builtin_unreachable();
  int inside = renumbered(keyval);
  // Computed anew: else what ours() has computed would keep a register, in MPI's own gets, too.
  asm("" : "+r"(inside));
  if (attrcache_inline_find(table, inside, static_cast<void**>(value))) [[likely]] {
    *flag = 1;
    return MPI_SUCCESS;
  }
  if (!attrcache_inline_is_near(inside))
    return get_attr_far<Kind, Slow>(handle, keyval, value, flag, table);
  const attrcache_kind* const kind = kind_of<Kind>();
  if (kind == nullptr) __builtin_unreachable();
  if (attrcache_inline_is_absent(kind, inside)) {
    *flag = 0;
    int success = MPI_SUCCESS;
    asm("" : "+r"(success));  // else this return is merged with the hit's, which would cost a jump
    return success;
  }
  return Slow(handle, keyval, value, flag);
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_GET_FAST_H_
