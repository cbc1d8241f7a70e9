// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/language.h"
#include "table/attribute.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// What is at an address where a runtime keeps a value set as `tag`. Atomic, as the runtime may
// change it meanwhile; relaxed, since publishing what it points to is up to the runtime.
uint64_t bits_at(const void* at, attrcache_tag tag) {
  if (tag == ATTRCACHE_AS_INT) {
    return stored(__atomic_load_n(static_cast<const int*>(at), __ATOMIC_RELAXED), tag);
  }
  return stored(__atomic_load_n(static_cast<const intptr_t*>(at), __ATOMIC_RELAXED), tag);
}

// For a predefined attribute, whose keyval has a number of the runtime's choice, outside the
// domain's own range.
int get_predefined(const Registry& registry, const Table& table, int number, Seen* value) {
  const Definition* definition = registry.definitions().find(number);
  if (definition == nullptr) [[unlikely]] {
    const int error = registry.why_not(registry.keyval_of(number));
    if (error != ATTRCACHE_ERR_KEYVAL_PREDEFINED) return error;
    definition = registry.definitions().find(number);  // it has been defined since
  }
  const attrcache_tag tag = definition->given.tag;
  if (definition->given.where == ATTRCACHE_PER_KIND) {
    // (P4) acquire: what a pointer points to, stored before P3 (keyval/definitions.h), is seen.
    value->bits = definition->value.load(kAcquire);
    value->in_c = seen_by_c(value->bits, definition->value_address(), tag);
    return ATTRCACHE_OK;
  }
  const void* const at = definition->given.compute(reinterpret_cast<const attrcache_table*>(&table),
                                                   definition->given.context);
  if (at == nullptr) return ATTRCACHE_ABSENT;
  value->bits = bits_at(at, tag);
  // A slot keeps an int in a part of its 64 bits (seen_by_c); the runtime keeps just the int.
  value->in_c = tag == ATTRCACHE_AS_POINTER ? as_pointer(value->bits) : const_cast<void*>(at);
  return ATTRCACHE_OK;
}

}  // namespace

int get_attribute(const Registry& registry, const Table& table, id::Keyval keyval, Seen* value) {
  if (!id::well_formed(keyval))
    return get_predefined(registry, table, registry.number_of(keyval), value);
  const Pair* const slot = table.at_offset(id::offset(keyval));
  if (slot != nullptr) {
    const SlotContent found = slot->peek();
    if (((meta::lower(found.meta) ^ id::bits(keyval)) & meta::kSameAttribute) == 0) {
      value->bits = found.value;
      value->in_c = seen_by_c(found.value, slot->value_address(), meta::tag(found.meta));
      return ATTRCACHE_OK;
    }
  }
  const int error = registry.check(keyval);
  return error != ATTRCACHE_OK ? error : ATTRCACHE_ABSENT;
}

}  // namespace attrcache
