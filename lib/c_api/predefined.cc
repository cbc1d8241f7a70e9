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
using attrcache::Definitions;
using attrcache::inside;
using attrcache::Registry;
using attrcache::Table;
namespace entry_word = attrcache::entry_word;

bool fits_predefined(attrcache_tag tag) {
  return tag == ATTRCACHE_AS_INT || tag == ATTRCACHE_AS_POINTER || tag == ATTRCACHE_AS_AINT;
}

bool is_right(const Registry& registry, const attrcache_predefined& p) {
  return fits_predefined(p.tag) && static_cast<unsigned>(p.where) <= ATTRCACHE_COMPUTED &&
         (p.where == ATTRCACHE_COMPUTED) == (p.compute != nullptr) &&
         p.number != registry.settings().invalid &&
         !attrcache::id::well_formed(registry.keyval_of(p.number));
}

// A PER_OBJECT keyval that the runtime may set, by any of its names. The keyval inside and the tag; or
// the error that tells why there is none.
int find_per_object(Registry& registry, int number, uint32_t* keyval, attrcache_tag* tag) {
  if (const Definition* definition = registry.definitions().find(number)) {
    if (definition->where != ATTRCACHE_PER_OBJECT) return ATTRCACHE_ERR_ARGUMENT;
    // Relaxed: published with the definition.
    *keyval = definition->keyval.load(attrcache::kRelaxed);
    *tag = definition->tag;
    return ATTRCACHE_OK;
  }
  *keyval = registry.keyval_of(number);
  const uint64_t word = registry.look_up(*keyval);
  if (word == 0) {
    const int error = registry.why_not(*keyval);
    // It has been defined since; before, it was not, or not any more.
    return error == ATTRCACHE_ERR_KEYVAL_PREDEFINED ? ATTRCACHE_ERR_KEYVAL_STALE : error;
  }
  if ((word & (entry_word::kOrdinary | entry_word::kDefined)) != 0) return ATTRCACHE_ERR_ARGUMENT;
  *tag = static_cast<attrcache_tag>(word >> entry_word::kTagShift & 3);
  return ATTRCACHE_OK;
}

}  // namespace

extern "C" {

int attrcache_keyval_define(attrcache_kind* kind, const attrcache_predefined* predefined) noexcept {
  if (kind == nullptr || predefined == nullptr) return ATTRCACHE_ERR_NULL;
  Registry& registry = inside(kind);
  if (!is_right(registry, *predefined)) return ATTRCACHE_ERR_ARGUMENT;
  int error;
  auto* const place = registry.definitions().find_or_add(predefined->number, &error);
  if (place == nullptr) return error;
  Definitions::Change change(place);
  if (!change.owns()) return ATTRCACHE_ERR_BUSY;
  if (change.in_force() != nullptr) return ATTRCACHE_ERR_ARGUMENT;
  Definition* const definition = change.prepare(*predefined, registry.memory());
  if (definition == nullptr) return ATTRCACHE_ERR_MEMORY;
  if (definition->where == ATTRCACHE_PER_OBJECT) {
    uint32_t keyval;
    const int result = registry.create_defined(definition->tag, definition->copied_by_dup, &keyval);
    if (result != ATTRCACHE_OK) return result;
    definition->keyval.store(keyval, attrcache::kRelaxed);  // published by P2
  }
  definition->put(predefined->value);
  change.put_in_force(definition);
  return ATTRCACHE_OK;
}

int attrcache_keyval_undefine(attrcache_kind* kind, int number) noexcept {
  if (kind == nullptr) return ATTRCACHE_ERR_NULL;
  Registry& registry = inside(kind);
  const uint32_t keyval = registry.keyval_of(number);
  auto* const place = registry.definitions().find_place(number);
  if (place == nullptr) {
    const int error = registry.check(keyval);
    return error != ATTRCACHE_OK ? error : ATTRCACHE_ERR_ARGUMENT;
  }
  Definitions::Change change(place);
  if (!change.owns()) return ATTRCACHE_ERR_BUSY;
  const Definition* const definition = change.in_force();
  if (definition == nullptr) return ATTRCACHE_ERR_KEYVAL_STALE;
  change.put_in_force(nullptr);
  if (definition->where == ATTRCACHE_PER_OBJECT) {
    registry.free_defined(definition->keyval.load(attrcache::kRelaxed));
  }
  return ATTRCACHE_OK;
}

int attrcache_keyval_create_predefined(attrcache_kind* kind, attrcache_tag tag,
                                       int* keyval) noexcept {
  if (kind == nullptr || keyval == nullptr) return ATTRCACHE_ERR_NULL;
  if (!fits_predefined(tag)) return ATTRCACHE_ERR_ARGUMENT;
  return inside(kind).create({}, keyval, tag);
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
  uint32_t inner;
  attrcache_tag tag;
  const int error = find_per_object(registry, keyval, &inner, &tag);
  if (error != ATTRCACHE_OK) return error;
  return attrcache::set_attribute({registry, Table::of(table), nullptr}, inner,
                                  attrcache::stored(value, tag), tag, Caller::kRuntime, nullptr);
}

int attrcache_delete_predefined(attrcache_kind* kind, attrcache_table* table, int keyval) noexcept {
  if (kind == nullptr || table == nullptr) return ATTRCACHE_ERR_NULL;
  Registry& registry = inside(kind);
  uint32_t inner;
  attrcache_tag tag;
  const int error = find_per_object(registry, keyval, &inner, &tag);
  if (error != ATTRCACHE_OK) return error;
  return registry.told(attrcache::delete_attribute({registry, Table::of(table), nullptr}, inner,
                                                   Caller::kRuntime, attrcache::OnFailure::kKeep,
                                                   nullptr));
}

}  // extern "C"
