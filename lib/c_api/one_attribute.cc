// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// get, set and delete, and their fast paths: get, and the common cases of set and delete. In all
// other cases (bad arguments, a delete_fn, pins, contention, slots in the tree) a fast function
// jumps to a slow one that starts over. So the fast functions need not save registers for calls
// that they hardly ever make.

#include "attrcache/attrcache.h"
#include "c_api/inside.h"
#include "table/attribute.h"
#include "table/get.h"
#include "table/renumber.h"

namespace {

using attrcache::inside;
using attrcache::Pair;
using attrcache::References;
using attrcache::Registry;
using attrcache::SlotContent;
using attrcache::Table;
namespace meta = attrcache::meta;
namespace id = attrcache::id;
namespace slot = attrcache::slot;

// The functions below take keyvals as they are inside (keyval/settings.h).
int to_inside(attrcache_kind* kind, int keyval) {
  return static_cast<int>(inside(kind).keyval_of(keyval));
}

bool valid(attrcache_tag tag) { return static_cast<unsigned>(tag) <= ATTRCACHE_AS_AINT; }

[[gnu::noinline, gnu::cold]] int set_slowly(attrcache_kind* kind, attrcache_table* table,
                                            void* object, int keyval, intptr_t value,
                                            attrcache_tag tag, int* callback_code) noexcept {
  if (!valid(tag)) return ATTRCACHE_ERR_ARGUMENT;
  // Where an INTEGER has 64 bits, it is what an Aint is.
  if (tag == ATTRCACHE_AS_FINT && inside(kind).settings().fint_is_64_bits) tag = ATTRCACHE_AS_AINT;
  return attrcache::set_attribute({inside(kind), Table::of(table), object},
                                  static_cast<uint32_t>(keyval), attrcache::stored(value, tag), tag,
                                  attrcache::Caller::kUser, callback_code);
}

// The same, after a reference was taken that isn't needed: the slow path takes its own.
[[gnu::noinline, gnu::cold]] int set_after_all(attrcache_kind* kind, attrcache_table* table,
                                               void* object, int keyval, intptr_t value,
                                               attrcache_tag tag, int* callback_code) noexcept {
  inside(kind).drop(static_cast<uint32_t>(keyval));
  return set_slowly(kind, table, object, keyval, value, tag, callback_code);
}

// The same, after the table's clock has come to a number at which the table must be renumbered; and
// the same again, after a reference was taken that isn't needed. These are four functions rather
// than one with parameters, so that set_fast leaves by a jump with its arguments where they are.
[[gnu::noinline, gnu::cold]] int set_renumbered(attrcache_kind* kind, attrcache_table* table,
                                                void* object, int keyval, intptr_t value,
                                                attrcache_tag tag, int* callback_code) noexcept {
  Table& t = Table::of(table);
  attrcache::renumber(t, t.clock.load(attrcache::kRelaxed), inside(kind).memory());
  return set_slowly(kind, table, object, keyval, value, tag, callback_code);
}
[[gnu::noinline, gnu::cold]] int set_renumbered_after_all(attrcache_kind* kind,
                                                          attrcache_table* table, void* object,
                                                          int keyval, intptr_t value,
                                                          attrcache_tag tag,
                                                          int* callback_code) noexcept {
  inside(kind).drop(static_cast<uint32_t>(keyval));
  return set_renumbered(kind, table, object, keyval, value, tag, callback_code);
}

// Whether a keyval's index is among the first or not: the ways to its slot and to the counter of
// its references differ.
enum class Where { kFirst, kFar };

// A thread's counters of references, and that of a keyval among them; null if the kind never had
// such an index.
template <Where kWhere>
[[gnu::always_inline]] inline References::Counter* counters_of(const Registry& registry,
                                                               uint32_t key, unsigned ordinal) {
  return kWhere == Where::kFar ? registry.counters(id::offset(key), ordinal)
                               : registry.first_chunk_counters(ordinal);
}
template <Where kWhere>
[[gnu::always_inline]] inline References::Counter& counter_in(References::Counter* counters,
                                                              uint32_t key) {
  return kWhere == Where::kFar ? *counters : counters[id::index(key)];
}

// Sets in one step where nobody has to be called or waited for: the slot holds such a value under
// the same keyval, or is empty.
template <Where kWhere>
[[gnu::always_inline]] inline int set_in_slot(attrcache_kind* kind, attrcache_table* table,
                                              void* object, int keyval, intptr_t value,
                                              attrcache_tag tag, int* callback_code,
                                              Pair* slot) noexcept {
  const auto key = static_cast<uint32_t>(keyval);
  Table& t = Table::of(table);
  SlotContent now = slot->load();
  if (!meta::replaceable_unclaimed(now.meta, key)) {
    const unsigned ordinal = attrcache::this_thread().ordinal;
    if (!meta::empty(now.meta) || ordinal == 0) [[unlikely]]
      return set_slowly(kind, table, object, keyval, value, tag, callback_code);
    References::Counter* const counters = counters_of<kWhere>(inside(kind), key, ordinal);
    if (counters == nullptr) [[unlikely]]
      return set_slowly(kind, table, object, keyval, value, tag, callback_code);
    References::Counter& counter = counter_in<kWhere>(counters, key);
    const uint64_t stripe = counter.load(attrcache::kRelaxed);  // only a guess
    const auto name = static_cast<uint32_t>(stripe);
    if (((name ^ key) & attrcache::stripe::kKeyval) != 0 ||
        !References::acquire_open(counter, stripe)) [[unlikely]] {
      return set_slowly(kind, table, object, keyval, value, tag, callback_code);
    }
    const uint64_t number = t.tick();
    if (Table::wants_renumbering(number)) [[unlikely]] {
      return set_renumbered_after_all(kind, table, object, keyval, value, tag, callback_code);
    }
    if (slot::attach(*slot, now,
                     {attrcache::stored(value, tag), meta::attached(name, tag, number)}))
        [[likely]] {
      return ATTRCACHE_OK;  // (S1)
    }
    return set_after_all(kind, table, object, keyval, value, tag, callback_code);
  }
  if (!inside(kind).is_kind_of(key)) [[unlikely]]
    return ATTRCACHE_ERR_KEYVAL_KIND;
  const uint64_t replacement = slot::successor(t, now.meta, tag);
  if (replacement == 0) [[unlikely]]
    return set_renumbered(kind, table, object, keyval, value, tag, callback_code);
  if (slot::replace_unclaimed(*slot, now, {attrcache::stored(value, tag), replacement})) [[likely]]
    return ATTRCACHE_OK;  // (S3)
  return set_slowly(kind, table, object, keyval, value, tag, callback_code);
}

[[gnu::always_inline]] inline int set_fast(attrcache_kind* kind, attrcache_table* table,
                                           void* object, int keyval, intptr_t value,
                                           attrcache_tag tag, int* callback_code) noexcept {
  return Table::of(table).at_offset(
      id::slot_offset(static_cast<uint32_t>(keyval)),
      [=](Pair * slot) __attribute__((always_inline)) {
        return set_in_slot<Where::kFirst>(kind, table, object, keyval, value, tag, callback_code,
                                          slot);
      },
      [=](Pair * slot) __attribute__((always_inline)) {
        return set_in_slot<Where::kFar>(kind, table, object, keyval, value, tag, callback_code,
                                        slot);
      },
      [=]() __attribute__((always_inline)) {
        return set_slowly(kind, table, object, keyval, value, tag, callback_code);
      });
}

[[gnu::noinline, gnu::cold]] int delete_slowly(attrcache_kind* kind, attrcache_table* table,
                                               void* object, int keyval,
                                               int* callback_code) noexcept {
  const int result = attrcache::delete_attribute(
      {inside(kind), Table::of(table), object}, static_cast<uint32_t>(keyval),
      attrcache::Caller::kUser, attrcache::OnFailure::kKeep, callback_code);
  return result == ATTRCACHE_ABSENT && !inside(kind).settings().tells ? ATTRCACHE_OK : result;
}

bool is_usual_fint(attrcache_kind* kind) { return !inside(kind).settings().fint_is_64_bits; }

[[gnu::noinline]] int set_tagged(attrcache_kind* kind, attrcache_table* table, void* object,
                                 int keyval, intptr_t value, attrcache_tag tag,
                                 int* callback_code) noexcept {
  const bool usual = valid(tag) && (tag != ATTRCACHE_AS_FINT || is_usual_fint(kind));
  return usual ? set_fast(kind, table, object, keyval, value, tag, callback_code)
               : set_slowly(kind, table, object, keyval, value, tag, callback_code);
}

// Ends a delete under a keyval that is freed: drops the value's reference on the exact count.
[[gnu::noinline, gnu::cold]] int drop_slowly(attrcache_kind* kind, int keyval) noexcept {
  inside(kind).drop_closed(static_cast<uint32_t>(keyval));
  return ATTRCACHE_OK;
}

// Deletes in one step where nobody has to be called or waited for.
template <Where kWhere>
[[gnu::always_inline]] inline int delete_in_slot(attrcache_kind* kind, attrcache_table* table,
                                                 void* object, int keyval, int* callback_code,
                                                 Pair* slot) noexcept {
  const auto key = static_cast<uint32_t>(keyval);
  const unsigned ordinal = attrcache::this_thread().ordinal;
  if (ordinal == 0) [[unlikely]]
    return delete_slowly(kind, table, object, keyval, callback_code);
  uint64_t now = slot->load_meta();
  if (!meta::replaceable_unclaimed(now, key) || !inside(kind).is_kind_of(key) ||
      !slot::detach_unclaimed(*slot, now)) [[unlikely]] {  // (S4)
    return delete_slowly(kind, table, object, keyval, callback_code);
  }
  // There is such a counter, since there was such an attribute.
  References::Counter* const counters = counters_of<kWhere>(inside(kind), key, ordinal);
  if (counters == nullptr) __builtin_unreachable();
  if (!References::drop_open(counter_in<kWhere>(counters, key))) [[unlikely]]
    return drop_slowly(kind, keyval);
  return ATTRCACHE_OK;
}

}  // namespace

extern "C" {

int attrcache_get(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                  void** value) noexcept {
  return attrcache::get_for<true>(kind, table, keyval, value);
}

int attrcache_set(attrcache_kind* kind, attrcache_table* table, void* object, int keyval,
                  intptr_t value, attrcache_tag tag, int* callback_code) noexcept {
  if (kind == nullptr || table == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  keyval = to_inside(kind, keyval);
  if (tag != ATTRCACHE_AS_POINTER) [[unlikely]]
    return set_tagged(kind, table, object, keyval, value, tag, callback_code);
  return set_fast(kind, table, object, keyval, value, ATTRCACHE_AS_POINTER, callback_code);
}

int attrcache_delete(attrcache_kind* kind, attrcache_table* table, void* object, int keyval,
                     int* callback_code) noexcept {
  if (kind == nullptr || table == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  keyval = to_inside(kind, keyval);
  return Table::of(table).at_offset(
      id::slot_offset(static_cast<uint32_t>(keyval)),
      [=](Pair * slot) __attribute__((always_inline)) {
        return delete_in_slot<Where::kFirst>(kind, table, object, keyval, callback_code, slot);
      },
      [=](Pair * slot) __attribute__((always_inline)) {
        return delete_in_slot<Where::kFar>(kind, table, object, keyval, callback_code, slot);
      },
      [=]() __attribute__((always_inline)) {
        return delete_slowly(kind, table, object, keyval, callback_code);
      });
}

}  // extern "C"
