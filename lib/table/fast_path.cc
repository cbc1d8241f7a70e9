// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/fast_path.h"

#include "callback/language.h"
#include "table/attribute.h"

namespace attrcache {

int set_slowly(attrcache_kind* kind, attrcache_table* table, void* object, int keyval,
               intptr_t value, attrcache_tag tag, int* callback_code) noexcept {
  if (!is_tag(tag)) return ATTRCACHE_ERR_ARGUMENT;
  // Where an INTEGER has 64 bits, it is what an Aint is.
  if (tag == ATTRCACHE_AS_FINT && Registry::of(kind).settings().fint_is_64_bits)
    tag = ATTRCACHE_AS_AINT;
  return set_attribute({Registry::of(kind), Table::of(table), object}, id::of(keyval),
                       stored(value, tag), tag, callback_code);
}

int drop_and_set(attrcache_kind* kind, attrcache_table* table, void* object, int keyval,
                 intptr_t value, attrcache_tag tag, int* callback_code) noexcept {
  Registry::of(kind).drop(id::of(keyval));
  return set_slowly(kind, table, object, keyval, value, tag, callback_code);
}

int delete_slowly(attrcache_kind* kind, attrcache_table* table, void* object, int keyval,
                  int* callback_code) noexcept {
  Registry& registry = Registry::of(kind);
  return registry.result_for_user(delete_attribute(
      {registry, Table::of(table), object}, id::of(keyval), OnFailure::kKeep, callback_code));
}

int drop_slowly(attrcache_kind* kind, int keyval) noexcept {
  Registry::of(kind).drop_slowly(id::of(keyval));
  return ATTRCACHE_OK;
}

}  // namespace attrcache
