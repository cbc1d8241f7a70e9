// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The fast paths of set and delete: the common cases, which take one step on the slot. In all other
// cases (a delete_fn, contention, a freed keyval) they jump to a slow function that starts over, so
// they need not save registers for calls that they hardly ever make. That is also why all of these
// functions have the parameters of attrcache_set or attrcache_delete, in their order. Keyvals are
// the internal ones (keyval/settings.h).

#ifndef ATTRCACHE_TABLE_FAST_PATH_H_
#define ATTRCACHE_TABLE_FAST_PATH_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "platform/thread.h"
#include "table/meta.h"
#include "table/slot.h"
#include "table/table.h"

namespace attrcache {

// Set, whatever is in the slot.
[[gnu::noinline, gnu::cold]] int set_slowly(attrcache_kind* kind, attrcache_table* table,
                                            void* object, int keyval, intptr_t value,
                                            attrcache_tag tag, int* callback_code) noexcept;

// The same, after a reference was taken that isn't needed: the slow path takes its own.
[[gnu::noinline, gnu::cold]] int drop_and_set(attrcache_kind* kind, attrcache_table* table,
                                              void* object, int keyval, intptr_t value,
                                              attrcache_tag tag, int* callback_code) noexcept;

// Delete, whatever is in the slot.
[[gnu::noinline, gnu::cold]] int delete_slowly(attrcache_kind* kind, attrcache_table* table,
                                               void* object, int keyval,
                                               int* callback_code) noexcept;

// Ends a delete under a keyval that is freed: drops the value's reference on the exact count.
[[gnu::noinline, gnu::cold]] int drop_slowly(attrcache_kind* kind, int keyval) noexcept;

// Whether a keyval's index is among the first or not: the ways to its slot and to the counter of
// its references differ.
enum class Where { kFirst, kFar };

// A thread's counters of references, and that of a keyval among them; null if the kind never had
// such an index.
template <Where kWhere>
[[gnu::always_inline]] inline References::Counter* counters_of(const Registry& registry,
                                                               id::Keyval key, unsigned ordinal) {
  return kWhere == Where::kFar ? registry.counters(id::offset(key), ordinal)
                               : registry.first_chunk_counters(ordinal);
}
template <Where kWhere>
[[gnu::always_inline]] inline References::Counter& counter_in(References::Counter* counters,
                                                              id::Keyval key) {
  if (kWhere == Where::kFar) return *counters;
  // Not by id::index: the offset is at hand, because it was needed to see that the keyval is one of
  // the first.
  return counters[id::bytes(id::slot_offset(key)) / sizeof(Pair)];
}

// Sets in one step where no callback has to run: the slot is empty, or holds a value without
// delete_fn under the same keyval.
template <Where kWhere>
[[gnu::always_inline]] inline int set_in_slot(attrcache_kind* kind, attrcache_table* table,
                                              void* object, int keyval, intptr_t value,
                                              attrcache_tag tag, int* callback_code,
                                              Pair* slot) noexcept {
  const id::Keyval key = id::of(keyval);
  Table& t = Table::of(table);
  SlotContent now = slot->load();
  if (!meta::replaceable_at_once(now.meta, key)) {
    const unsigned ordinal = this_thread().ordinal;
    if (!meta::empty(now.meta) || ordinal == 0) [[unlikely]]
      return set_slowly(kind, table, object, keyval, value, tag, callback_code);
    References::Counter* const counters = counters_of<kWhere>(Registry::of(kind), key, ordinal);
    if (counters == nullptr) [[unlikely]]
      return set_slowly(kind, table, object, keyval, value, tag, callback_code);
    References::Counter& counter = counter_in<kWhere>(counters, key);
    const uint64_t word = counter.load(kRelaxed);  // only a guess
    const stripe::Name name = stripe::name_in(word);
    if (!stripe::names(name, key)) [[unlikely]]
      return set_slowly(kind, table, object, keyval, value, tag, callback_code);
    const uint64_t number = t.tick();
    if (!References::acquire_open(counter, word)) [[unlikely]]
      return set_slowly(kind, table, object, keyval, value, tag, callback_code);
    if (slot::attach(*slot, now, {stored(value, tag), meta::attached(name, tag, number)}))
        [[likely]] {
      return ATTRCACHE_OK;  // (S1)
    }
    return drop_and_set(kind, table, object, keyval, value, tag, callback_code);
  }
  if (!Registry::of(kind).is_kind_of(key)) [[unlikely]]
    return ATTRCACHE_ERR_KEYVAL_KIND;
  const uint64_t replacement = slot::successor(t, now.meta, tag);
  if (slot::replace(*slot, now, {stored(value, tag), replacement})) [[likely]]
    return ATTRCACHE_OK;  // (S2)
  return set_slowly(kind, table, object, keyval, value, tag, callback_code);
}

[[gnu::always_inline]] inline int set_fast(attrcache_kind* kind, attrcache_table* table,
                                           void* object, int keyval, intptr_t value,
                                           attrcache_tag tag, int* callback_code) noexcept {
  return Table::of(table).at_offset(
      id::slot_offset(id::of(keyval)),
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

// Deletes in one step where no callback has to run.
template <Where kWhere>
[[gnu::always_inline]] inline int delete_in_slot(attrcache_kind* kind, attrcache_table* table,
                                                 void* object, int keyval, int* callback_code,
                                                 Pair* slot) noexcept {
  const id::Keyval key = id::of(keyval);
  const unsigned ordinal = this_thread().ordinal;
  if (ordinal == 0) [[unlikely]]
    return delete_slowly(kind, table, object, keyval, callback_code);
  uint64_t now = slot->load_meta();
  if (!meta::replaceable_at_once(now, key) || !Registry::of(kind).is_kind_of(key) ||
      !slot::detach(*slot, now)) [[unlikely]] {  // (S3)
    return delete_slowly(kind, table, object, keyval, callback_code);
  }
  // There is such a counter, since there was such an attribute.
  References::Counter* const counters = counters_of<kWhere>(Registry::of(kind), key, ordinal);
  if (counters == nullptr) __builtin_unreachable();
  if (!References::drop_open(counter_in<kWhere>(counters, key))) [[unlikely]]
    return drop_slowly(kind, keyval);
  return ATTRCACHE_OK;
}

[[gnu::always_inline]] inline int delete_fast(attrcache_kind* kind, attrcache_table* table,
                                              void* object, int keyval,
                                              int* callback_code) noexcept {
  return Table::of(table).at_offset(
      id::slot_offset(id::of(keyval)),
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

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_FAST_PATH_H_
