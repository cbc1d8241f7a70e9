// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// get, set and delete in the C API: they check their arguments.

#include "attrcache/attrcache.h"
#include "attrcache/attrcache_inline.h"
#include "callback/language.h"
#include "table/set.h"

namespace {

using attrcache::Registry;
using attrcache::Table;

// Whether a test build must see each access (platform/atomic.h).
#ifdef ATTRCACHE_ATOMIC_HEADER
constexpr bool kMustSeeAll = true;
#else
constexpr bool kMustSeeAll = false;
#endif

// Does the whole get, of an internal keyval: for predefined attributes, and mostly errors.
[[gnu::noinline, gnu::cold]] int get_slowly(const attrcache_kind* kind,
                                            const attrcache_table* table, int keyval,
                                            void** value) noexcept {
  if (kind == nullptr) return ATTRCACHE_ERR_NULL;
  attrcache::Seen seen;
  const int result = attrcache::get_attribute(Registry::of(kind), Table::of(table),
                                              attrcache::id::of(keyval), &seen);
  if (result == ATTRCACHE_OK) *value = seen.in_c;
  return result;
}

// Continues a get that has found no value in the slot at that offset.
[[gnu::noinline]] int get_absent(const attrcache_kind* kind, const attrcache_table* table,
                                 int keyval, void** value, size_t offset) noexcept {
  if (kind != nullptr && attrcache_inline_is_absent(kind, keyval, offset)) [[likely]]
    return ATTRCACHE_ABSENT;
  return get_slowly(kind, table, keyval, value);
}

// Continues a get whose slot is in the table's tree; or the int is no keyval.
[[gnu::noinline]] int get_far(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                              void** value, size_t offset) noexcept {
  const attrcache_inline_saw saw = attrcache_inline_look_far(table, keyval, offset, value);
  if (saw <= ATTRCACHE_INLINE_ADDRESS) [[likely]]
    return ATTRCACHE_OK;
  // An int that is no keyval has no word: not even 0, whose offset leads to index 0.
  if (saw == ATTRCACHE_INLINE_NONE && kind != nullptr &&
      Registry::of(kind).look_up(attrcache::id::of(keyval)) != 0) [[likely]]
    return ATTRCACHE_ABSENT;
  return get_slowly(kind, table, keyval, value);
}

// get, of an internal keyval. It is wait-free, and has no read-modify-write, no fence, no call, and
// no store but that of the result. Unless it finds a value in the slot of an index below 64, it
// leaves by a jump.
[[gnu::always_inline]] inline int get(const attrcache_kind* kind, const attrcache_table* table,
                                      int keyval, void** value) {
  const size_t offset = attrcache_inline_offset(keyval);
  if (table == nullptr || value == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  if (kMustSeeAll) return get_slowly(kind, table, keyval, value);
  int ok = ATTRCACHE_OK;
  switch (attrcache_inline_look(table, keyval, offset, value)) {
    case ATTRCACHE_INLINE_POINTER:
      return ATTRCACHE_OK;
    case ATTRCACHE_INLINE_ADDRESS:
      ATTRCACHE_INLINE_OPAQUE(ok);  // so not one return with the other, which would cost a jump
      return ok;
    case ATTRCACHE_INLINE_NONE_FIRST:
      return get_absent(kind, table, keyval, value, offset);
    case ATTRCACHE_INLINE_NONE:
      ATTRCACHE_INLINE_OPAQUE(keyval);  // its offset is computed again: a hit keeps nothing
      return get_absent(kind, table, keyval, value, attrcache_inline_offset(keyval));
    case ATTRCACHE_INLINE_FAR:
      return get_far(kind, table, keyval, value, offset);
    default:
      return get_slowly(kind, table, keyval, value);
  }
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
  if (tag == ATTRCACHE_AS_FINT && Registry::of(kind).convention().fint_is_64_bits) [[unlikely]]
    tag = ATTRCACHE_AS_AINT;
  return 0;
}

}  // namespace

extern "C" {

int attrcache_get(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                  void** value) noexcept {
  if (kind == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  return get(kind, table, static_cast<int>(Registry::of(kind).keyval_of(keyval)), value);
}

int attrcache_get_renumbered(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                             void** value) noexcept {
  return get(kind, table, keyval, value);
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
