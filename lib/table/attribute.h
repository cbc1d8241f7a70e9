// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// set and delete of one attribute. The steps that they take are in slot.h. Each looks at the slot
// and takes the step that this calls for, in a loop, because another thread may have been faster.
// The first round is inlined into the callers: it takes the steps of the common cases (S1, S2, S3).
// Since nothing comes after a call there, it needs to save no register. If it hasn't taken a step,
// the other rounds go on (continue_set, continue_delete), with the slot that was found.
//
// What was read of a keyval may be acted upon only if a reference on it was held at that time: the
// caller's, or that of a value found attached. Until a reference is held, the keyval may end, and
// the same int may come to mean another keyval, which has a delete_fn, say.

#ifndef ATTRCACHE_TABLE_ATTRIBUTE_H_
#define ATTRCACHE_TABLE_ATTRIBUTE_H_

#include <cstdint>

#include "callback/frame.h"
#include "callback/language.h"
#include "keyval/registry.h"
#include "table/slot.h"
#include "table/table.h"

namespace attrcache {

// The object that an operation is on.
struct Target {
  Registry& registry;
  Table& table;
  void* object;
};

enum class OnFailure { kKeep, kDetach };  // what becomes of a value whose delete_fn fails

inline int set_attribute(const Target& target, id::Keyval keyval, uint64_t value, attrcache_tag tag,
                         int* callback_code);

// Attaches the value if nothing is attached, or what is attached is being deleted. Otherwise
// ATTRCACHE_PRESENT, and *present is what get gives, unless `present` is null.
int set_attribute_if_absent(const Target& target, id::Keyval keyval, uint64_t value,
                            attrcache_tag tag, void** present);

// ATTRCACHE_ABSENT: there was nothing to delete. With kKeep, which is a user's delete, that is told
// as the domain wishes (Registry::result_for_user).
inline int delete_attribute(const Target& target, id::Keyval keyval, OnFailure on_failure,
                            int* callback_code);

// Whether the thread itself, further up its stack, is deleting the value that has the meta `m`.
bool is_deleting(const ThreadState& thread, const Table& table, const Pair& slot, uint64_t m);

// Drops a reference on a keyval after a callback. It must not be inlined: within the callback a
// user-level thread may have moved to another thread of the operating system, so the address of
// thread-local variables must be computed anew.
[[gnu::noinline]] void drop_reference(Registry& registry, id::Keyval keyval);

// Runs delete_fn, if there is one, on a value that the caller owns or has claimed.
[[gnu::always_inline]] inline int run_delete_fn(const Target& target, TableScope& scope,
                                                const Pair& slot, SlotContent owned,
                                                id::Keyval keyval) {
  // The value's reference keeps the callbacks alive.
  attrcache_callbacks& callbacks = target.registry.callbacks(keyval);
  if (callbacks.delete_fn == ATTRCACHE_NULL_DELETE_FN) return 0;
  scope.begin(&slot, meta::sequence(owned.meta));
  const int code =
      run_delete(callbacks, target.registry.convention(), target.object,
                 target.registry.number_of(keyval), owned.value, meta::tag(owned.meta));
  scope.end();
  return code;
}

inline void tell(int code, int* callback_code) {
  if (callback_code != nullptr) *callback_code = code;
}
inline int fail(int code, int* callback_code) {
  tell(code, callback_code);
  return ATTRCACHE_ERR_CALLBACK;
}

// Deletes a value that the calling thread has claimed and nobody holds: runs its delete_fn, and
// ends the claim. True: the value is gone, and its reference on the keyval is the caller's to drop.
// False: delete_fn has failed, and the value is attached as it was (unless its keyval deletes
// once).
[[gnu::always_inline]] inline bool delete_claimed(const Target& target, TableScope& scope,
                                                  const Pair& slot, slot::Claim& claim,
                                                  SlotContent claimed, id::Keyval keyval,
                                                  OnFailure on_failure, int* code) {
  *code = run_delete_fn(target, scope, slot, claimed, keyval);
  if (scope.table_died()) return true;
  if (*code != 0 && on_failure == OnFailure::kKeep &&
      !deletes_once(target.registry.callbacks(keyval))) {
    return !claim.restore();  // (S9)
  }
  claim.detach();  // (S12)
  return true;
}

// ---- The first round of the two loops ----

// The slot of a keyval, or null if it was never needed.
[[gnu::always_inline]] inline Pair* find_slot(Table& table, id::Keyval keyval) {
  const auto found = [](Pair* slot) { return slot; };
  return table.at_offset(id::slot_offset(keyval), found, found,
                         [] { return static_cast<Pair*>(nullptr); });
}

// The counter of a keyval's references in the stripe of the thread with that ordinal; null if the
// kind never had a keyval of that index. The caller has found the keyval's slot.
[[gnu::always_inline]] inline References::Counter* counter_of(const Registry& registry,
                                                              id::Keyval keyval, unsigned ordinal) {
  const id::Offset offset = id::slot_offset(keyval);
  if (id::bytes(offset) >= Registry::kFirstChunkLength << id::kIndexShift) [[unlikely]]
    return registry.counters(offset, ordinal);
  References::Counter* const first = registry.first_chunk_counters(ordinal);
  return first != nullptr ? first + id::bytes(offset) / sizeof(Pair) : nullptr;
}

// Takes a reference on a keyval whose slot was found, and sets *name to the keyval's. False: the
// thread's stripe isn't open, or is contended, or there is no such keyval.
[[gnu::always_inline]] inline bool take_open(Registry& registry, id::Keyval keyval,
                                             stripe::Name* name) {
  const unsigned ordinal = this_thread().ordinal;
  if (ordinal == 0) [[unlikely]]
    return false;
  References::Counter* const counter = counter_of(registry, keyval, ordinal);
  if (counter == nullptr) [[unlikely]]
    return false;
  const uint64_t word = counter->load(kRelaxed);  // only a guess
  *name = stripe::name_in(word);
  return stripe::names(*name, keyval) && References::acquire_open(*counter, word);
}

// The same in any case, but slower. kNotTaken: there is no such keyval.
inline constexpr stripe::Name kNotTaken{0};
[[gnu::noinline]] stripe::Name take_slowly(Registry& registry, id::Keyval keyval);

// Goes on with a set. The slot may be null: it was never needed. `in_vain`: the caller has taken a
// reference on the keyval, which is to be dropped.
[[gnu::noinline]] int continue_set(Target target, Pair* slot, id::Keyval keyval, uint64_t value,
                                   attrcache_tag tag, int* callback_code, bool in_vain);

[[gnu::always_inline]] inline int set_attribute(const Target& target, id::Keyval keyval,
                                                uint64_t value, attrcache_tag tag,
                                                int* callback_code) {
  Table& table = target.table;
  bool in_vain = false;
  Pair* const slot = find_slot(table, keyval);
  if (slot != nullptr) [[likely]] {
    SlotContent now = slot->load();
    if (meta::replaceable_at_once(now.meta, keyval)) {
      if (!target.registry.is_kind_of(keyval)) [[unlikely]]
        return ATTRCACHE_ERR_KEYVAL_KIND;
      const uint64_t replacement = slot::successor(table, now.meta, tag);
      if (slot::replace(*slot, now, {value, replacement})) [[likely]]
        return ATTRCACHE_OK;  // (S2)
    } else if (meta::empty(now.meta)) {
      stripe::Name name;
      if (take_open(target.registry, keyval, &name)) [[likely]] {
        if (slot::attach(*slot, now, {value, meta::attached(name, tag, table.tick())})) [[likely]]
          return ATTRCACHE_OK;  // (S1)
        in_vain = true;
      }
    }
  }
  return continue_set(target, slot, keyval, value, tag, callback_code, in_vain);
}

// Goes on with a delete, as above.
[[gnu::noinline]] int continue_delete(Target target, Pair* slot, id::Keyval keyval,
                                      OnFailure on_failure, int* callback_code);

// Drops the reference of a value without delete_fn that the caller has detached.
[[gnu::always_inline]] inline int drop_detached(Registry& registry, id::Keyval keyval) {
  const unsigned ordinal = this_thread().ordinal;
  if (ordinal == 0) [[unlikely]] {
    registry.drop(keyval);
    return ATTRCACHE_OK;
  }
  // There is such a counter, since there was such an attribute.
  References::Counter* const counter = counter_of(registry, keyval, ordinal);
  if (counter == nullptr) __builtin_unreachable();
  if (!References::drop_open(*counter)) [[unlikely]]
    registry.drop_slowly(keyval);
  return ATTRCACHE_OK;
}

[[gnu::always_inline]] inline int delete_attribute(const Target& target, id::Keyval keyval,
                                                   OnFailure on_failure, int* callback_code) {
  Pair* const slot = find_slot(target.table, keyval);
  if (slot != nullptr) [[likely]] {
    uint64_t now = slot->load_meta();
    if (meta::replaceable_at_once(now, keyval) && target.registry.is_kind_of(keyval) &&
        slot::detach(*slot, now)) {  // (S3)
      return drop_detached(target.registry, keyval);
    }
  }
  return continue_delete(target, slot, keyval, on_failure, callback_code);
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_ATTRIBUTE_H_
