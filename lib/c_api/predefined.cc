// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Predefined keyvals in the C API: their definitions, and what changes a value of one.

#include "attrcache/attrcache.h"
#include "c_api/filled.h"
#include "c_api/inside.h"
#include "callback/language.h"

namespace {

using attrcache::Definition;
using attrcache::inside;
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
  if (!is_right(inside(kind), known)) return ATTRCACHE_ERR_ARGUMENT;
  return inside(kind).define(known);
}

int attrcache_set_predefined(attrcache_kind* kind, int keyval, intptr_t value) noexcept {
  if (kind == nullptr) return ATTRCACHE_ERR_NULL;
  Registry& registry = inside(kind);
  int error = ATTRCACHE_ERR_KEYVAL_PREDEFINED;
  Definition* definition = registry.definitions().find(keyval);
  if (definition == nullptr) {
    error = registry.check(registry.keyval_of(keyval));
    if (error == ATTRCACHE_ERR_KEYVAL_PREDEFINED)  // since
      definition = registry.definitions().find(keyval);
  }
  if (definition == nullptr) return error == ATTRCACHE_OK ? ATTRCACHE_ERR_ARGUMENT : error;
  if (definition->where != ATTRCACHE_PER_KIND) return ATTRCACHE_ERR_ARGUMENT;
  definition->put(value);
  return ATTRCACHE_OK;
}

}  // extern "C"
