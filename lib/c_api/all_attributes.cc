// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Dup and free in the C API: they check their arguments.

#include "attrcache/attrcache.h"
#include "table/dup_free.h"

namespace {

using attrcache::Registry;
using attrcache::Table;

// What there is to be done for the objects that have attributes.
[[gnu::noinline]] int copy_what_there_is(attrcache_kind* kind, attrcache_table* old_table,
                                         void* old_object, attrcache_table* new_table,
                                         void* new_object, int* callback_code) noexcept {
  if (!attrcache_table_is_aligned(new_table)) [[unlikely]]
    return ATTRCACHE_ERR_ARGUMENT;
  return attrcache::copy_attributes({Registry::of(kind), Table::of(old_table), old_object},
                                    {Registry::of(kind), Table::of(new_table), new_object},
                                    callback_code);
}

[[gnu::noinline]] int delete_what_there_is(attrcache_kind* kind, attrcache_table* table,
                                           void* object, attrcache_delete_mode mode,
                                           int* callback_code) noexcept {
  return attrcache::delete_attributes({Registry::of(kind), Table::of(table), object}, mode,
                                      callback_code);
}

}  // namespace

extern "C" {

// Most objects have no attributes, so these two save no registers until they find some.

int attrcache_copy_all(attrcache_kind* kind, attrcache_table* old_table, void* old_object,
                       attrcache_table* new_table, void* new_object, int* callback_code) noexcept {
  // In this order, or the compiler makes one test of two pointers, which takes more instructions.
  if (kind == nullptr || old_table == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  if (old_table == new_table) [[unlikely]]
    return ATTRCACHE_ERR_ARGUMENT;
  if (new_table == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  if (Table::of(old_table).is_as_new()) return ATTRCACHE_OK;
  return copy_what_there_is(kind, old_table, old_object, new_table, new_object, callback_code);
}

int attrcache_delete_all(attrcache_kind* kind, attrcache_table* table, void* object,
                         attrcache_delete_mode mode, int* callback_code) noexcept {
  if (kind == nullptr || table == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  if (static_cast<unsigned>(mode) > ATTRCACHE_DRAIN_FINALLY) [[unlikely]]
    return ATTRCACHE_ERR_ARGUMENT;
  if (Table::of(table).is_as_new()) return ATTRCACHE_OK;  // the kind may be gone
  return delete_what_there_is(kind, table, object, mode, callback_code);
}

int attrcache_delete_each(attrcache_kind* kind, attrcache_table* table, void* object,
                          attrcache_delete_mode mode, attrcache_deleted_fn* deleted_fn,
                          void* context) noexcept {
  if (kind == nullptr || table == nullptr || deleted_fn == nullptr) return ATTRCACHE_ERR_NULL;
  if (static_cast<unsigned>(mode) > ATTRCACHE_DRAIN_FINALLY) return ATTRCACHE_ERR_ARGUMENT;
  if (Table::of(table).is_as_new()) return ATTRCACHE_OK;
  return attrcache::delete_attributes({Registry::of(kind), Table::of(table), object}, mode, nullptr,
                                      {deleted_fn, context});
}

int attrcache_table_abandon(attrcache_kind* kind, attrcache_table* table) noexcept {
  if (kind == nullptr || table == nullptr) return ATTRCACHE_ERR_NULL;
  if (Table::of(table).is_as_new()) return ATTRCACHE_OK;
  return attrcache::abandon_attributes({Registry::of(kind), Table::of(table), nullptr});
}

int attrcache_table_move(attrcache_kind* kind, attrcache_table* from,
                         attrcache_table* to) noexcept {
  if (kind == nullptr || from == nullptr || to == nullptr) return ATTRCACHE_ERR_NULL;
  if (from == to || !attrcache_table_is_aligned(to)) return ATTRCACHE_ERR_ARGUMENT;
  return attrcache::move_table(Registry::of(kind).readers(), Table::of(from), Table::of(to));
}

}  // extern "C"
