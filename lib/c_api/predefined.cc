// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Predefined keyvals in the C API: their definitions, and the runtime's own set and delete.

#include "attrcache/attrcache.h"
#include "c_api/inside.h"
#include "callback/language.h"
#include "table/attribute.h"

namespace {

using attrcache::Caller;
using attrcache::Definition;
using attrcache::inside;
using attrcache::Registry;
using attrcache::Table;

bool fits_predefined(attrcache_tag tag) {
  return tag == ATTRCACHE_AS_INT || tag == ATTRCACHE_AS_POINTER || tag == ATTRCACHE_AS_AINT;
}

bool is_right(const Registry& registry, const attrcache_predefined& p) {
  return fits_predefined(p.tag) && static_cast<unsigned>(p.where) <= ATTRCACHE_COMPUTED &&
         (p.where == ATTRCACHE_COMPUTED) == (p.compute != nullptr) &&
         p.number != registry.settings().invalid &&
         !attrcache::id::well_formed(registry.keyval_of(p.number));
}

// The definition of a PER_OBJECT keyval; or null, and the error that tells why there is none.
const Definition* find_per_object(const Registry& registry, int number, int* error) {
  const Definition* const definition = registry.definitions().find(number);
  if (definition != nullptr && definition->where == ATTRCACHE_PER_OBJECT) return definition;
  *error = registry.check(registry.keyval_of(number));
  // A user's keyval, or a value of another sort.
  if (*error == ATTRCACHE_OK || definition != nullptr) *error = ATTRCACHE_ERR_ARGUMENT;
  return nullptr;
}

}  // namespace

extern "C" {

int attrcache_keyval_define(attrcache_kind* kind, const attrcache_predefined* predefined) noexcept {
  if (kind == nullptr || predefined == nullptr) return ATTRCACHE_ERR_NULL;
  if (!is_right(inside(kind), *predefined)) return ATTRCACHE_ERR_ARGUMENT;
  return inside(kind).define(*predefined);
}

int attrcache_set_predefined(attrcache_kind* kind, attrcache_table* table, int keyval,
                             intptr_t value) noexcept {
  if (kind == nullptr) return ATTRCACHE_ERR_NULL;
  Registry& registry = inside(kind);
  Definition* const definition = registry.definitions().find(keyval);
  if (definition != nullptr && definition->where == ATTRCACHE_PER_KIND) {
    if (table != nullptr) return ATTRCACHE_ERR_ARGUMENT;
    definition->put(value);
    return ATTRCACHE_OK;
  }
  if (table == nullptr) return ATTRCACHE_ERR_NULL;
  int error;
  const Definition* const found = find_per_object(registry, keyval, &error);
  if (found == nullptr) return error;
  return attrcache::set_attribute({registry, Table::of(table), nullptr}, found->keyval,
                                  attrcache::stored(value, found->tag), found->tag,
                                  Caller::kRuntime, nullptr);
}

int attrcache_delete_predefined(attrcache_kind* kind, attrcache_table* table, int keyval) noexcept {
  if (kind == nullptr || table == nullptr) return ATTRCACHE_ERR_NULL;
  Registry& registry = inside(kind);
  int error;
  const Definition* const found = find_per_object(registry, keyval, &error);
  if (found == nullptr) return error;
  return registry.told(attrcache::delete_attribute({registry, Table::of(table), nullptr},
                                                   found->keyval, Caller::kRuntime,
                                                   attrcache::OnFailure::kKeep, nullptr));
}

}  // extern "C"
