// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/get.h"

namespace attrcache {

int find_attribute(const Registry& registry, const Table& table, id::Keyval keyval, Found* found) {
  found->slot = table.at_offset(id::offset(keyval));
  if (found->slot != nullptr) {
    found->word = found->slot->peek();
    const uint32_t differs = meta::upper(found->word.meta) ^ id::bits(keyval);
    if ((differs & meta::kSameAttribute) == 0 && id::well_formed(keyval) &&
        id::kind(keyval) == registry.kind()) {
      return ATTRCACHE_OK;
    }
  }
  const int error = registry.check(keyval);
  return error != ATTRCACHE_OK ? error : ATTRCACHE_ABSENT;
}

int get_absent(const attrcache_kind* kind, const attrcache_table* table, int keyval, void** value,
               uint64_t offset) noexcept {
  if (offset >= kDirectorySlots << id::kIndexShift) __builtin_unreachable();
  if (kind != nullptr &&
      Registry::of(kind).exists(id::of(keyval), id::Offset{static_cast<uint32_t>(offset)}))
      [[likely]] {
    return ATTRCACHE_ABSENT;
  }
  return get_slowly(kind, table, keyval, value);
}

int get_far(const attrcache_kind* kind, const attrcache_table* table, int keyval, void** value,
            uint64_t offset) noexcept {
  const id::Keyval key = id::of(keyval);
  if (look_far(table, key, offset, value)) [[likely]]
    return ATTRCACHE_OK;
  // An int that is no keyval has no word: not even 0, whose offset leads to index 0.
  if (kind != nullptr && Registry::of(kind).look_up(key) != 0) [[likely]] {
    return ATTRCACHE_ABSENT;
  }
  if (!id::well_formed(key)) return get_outside_range(kind, table, keyval, value);
  return get_slowly(kind, table, keyval, value);
}

int get_slowly(const attrcache_kind* kind, const attrcache_table* table, int keyval,
               void** value) noexcept {
  if (kind == nullptr) return ATTRCACHE_ERR_NULL;
  Found found;
  const int result = find_attribute(Registry::of(kind), Table::of(table), id::of(keyval), &found);
  if (result == ATTRCACHE_OK) {
    *value = seen_by_c(found.word.value, found.slot->value_address(), meta::tag(found.word.meta));
  }
  return result;
}

}  // namespace attrcache
