// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Predefined keyvals in the C API: their definitions, and the runtime's own set and delete.

#include "attrcache/attrcache.h"
#include "c_api/filled.h"
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

// The definition of a number; or null, and the error that tells why there is none.
Definition* find_definition(Registry& registry, int number, int* error) {
  Definition* definition = registry.definitions().find(number);
  if (definition != nullptr) return definition;
  *error = registry.check(registry.keyval_of(number));
  if (*error == ATTRCACHE_ERR_KEYVAL_PREDEFINED)
    return registry.definitions().find(number);                 // since
  if (*error == ATTRCACHE_OK) *error = ATTRCACHE_ERR_ARGUMENT;  // a user's keyval
  return nullptr;
}

}  // namespace

extern "C" {

int attrcache_keyval_define(attrcache_kind* kind, const attrcache_predefined* predefined) noexcept {
  if (kind == nullptr || predefined == nullptr) return ATTRCACHE_ERR_NULL;
  attrcache_predefined known;
  const int result = attrcache::read_filled(predefined, &known);
  if (result != ATTRCACHE_OK) return result;
  if (!is_right(inside(kind), known)) return ATTRCACHE_ERR_ARGUMENT;
  return inside(kind).define(known);
}

int attrcache_set_predefined(attrcache_kind* kind, attrcache_table* table, int keyval,
                             intptr_t value) noexcept {
  if (kind == nullptr) return ATTRCACHE_ERR_NULL;
  Registry& registry = inside(kind);
  int error;
  Definition* const found = find_definition(registry, keyval, &error);
  if (table == nullptr) {
    if (found == nullptr || found->where != ATTRCACHE_PER_KIND) return ATTRCACHE_ERR_NULL;
    found->put(value);
    return ATTRCACHE_OK;
  }
  if (found == nullptr) return error;
  if (found->where != ATTRCACHE_PER_OBJECT) return ATTRCACHE_ERR_ARGUMENT;
  return attrcache::set_attribute({registry, Table::of(table), nullptr}, found->keyval,
                                  attrcache::stored(value, found->tag), found->tag,
                                  Caller::kRuntime, nullptr);
}

int attrcache_delete_predefined(attrcache_kind* kind, attrcache_table* table, int keyval) noexcept {
  if (kind == nullptr || table == nullptr) return ATTRCACHE_ERR_NULL;
  Registry& registry = inside(kind);
  int error;
  const Definition* const found = find_definition(registry, keyval, &error);
  if (found == nullptr) return error;
  if (found->where != ATTRCACHE_PER_OBJECT) return ATTRCACHE_ERR_ARGUMENT;
  return registry.result_for_user(
      attrcache::delete_attribute({registry, Table::of(table), nullptr}, found->keyval,
                                  Caller::kRuntime, attrcache::OnFailure::kKeep, nullptr));
}

}  // extern "C"
