// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// get, set and delete in the C API: they check their arguments.

#include "attrcache/attrcache.h"
#include "callback/language.h"
#include "table/get.h"
#include "table/set.h"

namespace {

using attrcache::Registry;
using attrcache::Table;
namespace meta = attrcache::meta;

// The internal keyval (keyval/settings.h).
int to_inside(const attrcache_kind* kind, int keyval) {
  return static_cast<int>(Registry::of(kind).keyval_of(keyval));
}

// Why nothing can be attached to that table; 0: it can.
int unfit(const attrcache_kind* kind, const attrcache_table* table) {
  if (kind == nullptr || table == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  return attrcache_table_is_aligned(table) ? 0 : ATTRCACHE_ERR_ARGUMENT;
}

// The same for a value set as `tag`, which becomes AINT where that is what a Fortran INTEGER is.
int unfit(const attrcache_kind* kind, const attrcache_table* table, attrcache_tag& tag) {
  if (const int error = unfit(kind, table)) [[unlikely]]
    return error;
  if (!attrcache::is_tag(tag)) [[unlikely]]
    return ATTRCACHE_ERR_ARGUMENT;
  if (tag == ATTRCACHE_AS_FINT && Registry::of(kind).settings().fint_is_64_bits) [[unlikely]]
    tag = ATTRCACHE_AS_AINT;
  return 0;
}

}  // namespace

extern "C" {

int attrcache_get(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                  void** value) noexcept {
  if (kind == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  return attrcache::get_for<true>(kind, table, to_inside(kind, keyval), value);
}

int attrcache_get_renumbered(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                             void** value) noexcept {
  return attrcache::get_for<true>(kind, table, keyval, value);
}

int attrcache_set(attrcache_kind* kind, attrcache_table* table, void* object, int keyval,
                  void* value, int* callback_code) noexcept {
  // By itself, and followed by a use of it: the compiler would make one test of it and the table's,
  // which takes more instructions than two.
  if (kind == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  const attrcache::id::Keyval key = Registry::of(kind).keyval_of(keyval);
  if (const int error = unfit(kind, table)) [[unlikely]]
    return error;
  return attrcache::set_attribute(
      {Registry::of(kind), Table::of(table), object}, {key, ATTRCACHE_AS_POINTER},
      attrcache::stored(reinterpret_cast<intptr_t>(value), ATTRCACHE_AS_POINTER), callback_code);
}

int attrcache_set_as(attrcache_kind* kind, attrcache_table* table, void* object, int keyval,
                     intptr_t value, attrcache_tag tag, int* callback_code) noexcept {
  if (const int error = unfit(kind, table, tag)) [[unlikely]]
    return error;
  return attrcache::set_attribute({Registry::of(kind), Table::of(table), object},
                                  {Registry::of(kind).keyval_of(keyval), tag},
                                  attrcache::stored(value, tag), callback_code);
}

int attrcache_set_if_absent(attrcache_kind* kind, attrcache_table* table, void* /*object*/,
                            int keyval, intptr_t value, attrcache_tag tag,
                            void** present) noexcept {
  if (const int error = unfit(kind, table, tag)) [[unlikely]]
    return error;
  return attrcache::set_attribute_if_absent(Registry::of(kind), Table::of(table),
                                            {Registry::of(kind).keyval_of(keyval), tag},
                                            attrcache::stored(value, tag), present);
}

int attrcache_delete(attrcache_kind* kind, attrcache_table* table, void* object, int keyval,
                     int* callback_code) noexcept {
  if (kind == nullptr || table == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  Registry& registry = Registry::of(kind);
  return attrcache::delete_attribute({registry, Table::of(table), object},
                                     registry.keyval_of(keyval), callback_code);
}

}  // extern "C"
