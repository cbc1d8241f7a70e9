// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Predefined keyvals in the C API: defining one, and changing its value.

#include "attrcache/attrcache.h"
#include "c_api/filled.h"
#include "keyval/registry.h"

namespace {

using attrcache::Definition;
using attrcache::Registry;

bool fits_predefined(attrcache_tag tag) {
  return tag == ATTRCACHE_AS_INT || tag == ATTRCACHE_AS_POINTER || tag == ATTRCACHE_AS_AINT;
}

bool is_right(const Registry& registry, const attrcache_predefined& p) {
  return fits_predefined(p.tag) && static_cast<unsigned>(p.where) <= ATTRCACHE_COMPUTED &&
         (p.where == ATTRCACHE_COMPUTED) == (p.compute != nullptr) &&
         p.number != registry.settings().invalid &&
         !attrcache::id::well_formed(registry.keyval_of(p.number));
}

}  // namespace

extern "C" {

int attrcache_keyval_define(attrcache_kind* kind, const attrcache_predefined* predefined) noexcept {
  if (kind == nullptr || predefined == nullptr) return ATTRCACHE_ERR_NULL;
  attrcache_predefined known;
  const int result = attrcache::read_filled(predefined, &known);
  if (result != ATTRCACHE_OK) return result;
  if (!is_right(Registry::of(kind), known)) return ATTRCACHE_ERR_ARGUMENT;
  return Registry::of(kind).define(known);
}

int attrcache_set_predefined(attrcache_kind* kind, int keyval, intptr_t value) noexcept {
  if (kind == nullptr) return ATTRCACHE_ERR_NULL;
  Registry& registry = Registry::of(kind);
  const int error = registry.check(registry.keyval_of(keyval));
  if (error == ATTRCACHE_OK) return ATTRCACHE_ERR_ARGUMENT;
  if (error != ATTRCACHE_ERR_KEYVAL_PREDEFINED) return error;
  Definition& definition = *registry.definitions().find(keyval);
  if (definition.where != ATTRCACHE_PER_KIND) return ATTRCACHE_ERR_ARGUMENT;
  definition.put(value);
  return ATTRCACHE_OK;
}

}  // extern "C"
