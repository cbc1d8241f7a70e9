// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/dup_free_fast.h"

#include "callback/frame.h"

namespace attrcache {

int copy_with_leaves(Registry& registry, Table& from, Table& to, unsigned ordinal) {
  References::Counter* const counters = registry.first_chunk_counters(ordinal);
  bool all = true;
  const auto copy = [&](uint32_t index, const Pair& slot) {
    all = all && copy_slot(slot, counters[index], [&] { return to.find_or_grow(index); });
    return all;
  };
  Directory* dir = from.directory.load(kAcquire);  // as T1
  from.while_each_first(dir, copy);
  if (dir != nullptr) {
    if (tree::height(dir->root.load(kAcquire)) != 0) all = false;  // as T1
    dir->for_each_leaf(copy);
  }
  if (!all) return give_up_copy(registry, from, to);
  end_copy(from, to);
  return ATTRCACHE_OK;
}

bool delete_carefully(Registry& registry, Table& table, unsigned ordinal) {
  // A user-level thread has a stack of callbacks of its own, where an operation may be using the
  // table.
  if (registry.threads().self().innermost != nullptr) return false;
  return delete_without_callbacks<true>(registry, table, ordinal);
}

int give_up_copy(Registry& registry, const Table& from, Table& to) {
  TableScope scope(registry.threads().self(), &from);
  to.for_each([&registry](uint32_t index, Pair& slot) {
    const uint64_t m = slot.load_meta();
    if (meta::empty(m)) return;
    slot.clear_unshared();
    registry.drop(meta::keyval(m, index));
  });
  to.clear();
  return scope.table_died() ? ATTRCACHE_ERR_BUSY : ATTRCACHE_ABSENT;
}

}  // namespace attrcache
