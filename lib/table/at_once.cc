// SPDX-License-Identifier: Apache-2.0

#include "table/at_once.h"

namespace attrcache {

int copy_with_leaves(Registry& registry, Table& from, Table& to, unsigned ordinal) {
  References::Counter* const counters = registry.near_counters(ordinal);
  int result = ATTRCACHE_OK;
  const auto copy = [&](uint32_t index, const Pair& slot) {
    if (result == ATTRCACHE_OK) {
      result = copy_slot(slot, counters[index], [&] { return to.find_or_grow(index); });
    }
    return result == ATTRCACHE_OK;
  };
  Directory* dir = from.directory.load(kAcquire);  // as T1
  from.while_each_first(dir, copy);
  if (dir != nullptr) {
    if (tree::height(dir->root.load(kAcquire)) != 0) result = ATTRCACHE_ABSENT;  // as T1
    dir->for_each_leaf(copy);
  }
  if (result != ATTRCACHE_OK) return give_up_copy(registry, to, result);
  end_copy(from, to);
  return ATTRCACHE_OK;
}

bool delete_with_leaves(Registry& registry, Table& table, unsigned ordinal) {
  return delete_near<true>(registry, table, ordinal);
}

int give_up_copy(Registry& registry, Table& to, int result) {
  to.for_each([&registry](uint32_t index, Pair& slot) {
    const uint64_t m = slot.load_meta();
    if (meta::empty(m)) return;
    slot.empty();
    registry.drop(meta::keyval(m, index));
  });
  to.clear();
  return result;
}

}  // namespace attrcache
