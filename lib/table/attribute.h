// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// get, set_if_absent and delete of one attribute, and what set (set.h) and free share with them.
// The steps that they take are in slot.h. Each looks at the slot and takes the step that this calls
// for, in a loop, because another thread may have been faster. The first look of a delete is
// inlined into the callers. What follows gets its arguments in registers, and nothing comes after
// it, so that the first look has nothing to save.
//
// What was read of a keyval may be acted upon only if a reference on it was held at that time: the
// caller's, or that of a value found attached. Until a reference is held, the keyval may end, and
// the same int may come to mean another keyval, which has a delete_fn, say.

#ifndef ATTRCACHE_TABLE_ATTRIBUTE_H_
#define ATTRCACHE_TABLE_ATTRIBUTE_H_

#include <cstdint>

#include "callback/frame.h"
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

// A keyval, and what a value is set as under it. Together they take one register.
struct Key {
  id::Keyval keyval;
  attrcache_tag tag;
};

// A value, as every language reads it.
struct Seen {
  void* in_c;     // the pointer, or the address of the int or Aint
  uint64_t bits;  // what a slot keeps
};

// Reads the visible value under any keyval. Returns ATTRCACHE_OK, ATTRCACHE_ABSENT, or the error
// that says why there is no such keyval. The common gets in C don't come here (attrcache_inline.h).
int get_attribute(const Registry& registry, const Table& table, id::Keyval keyval, Seen* value);

enum class OnFailure { kKeep, kDetach };  // what becomes of a value whose delete_fn fails

// Attaches the value if nothing is attached, or what is attached is being deleted. Otherwise
// ATTRCACHE_PRESENT, and *present is what get gives, unless `present` is null.
int set_attribute_if_absent(Registry& registry, Table& table, Key key, uint64_t value,
                            void** present);

// A user's delete. If there was nothing to delete, that is told as the domain wishes
// (Registry::result_for_user).
inline int delete_attribute(const Target& target, id::Keyval keyval, int* callback_code);

// Whether the thread itself, further up its stack, is deleting the value that has the meta `m`.
bool is_deleting(const ThreadState& thread, const Table& table, const Pair& slot, uint64_t m);

// Runs the delete_fn of a value that has one, and that the caller owns or has claimed.
[[gnu::always_inline]] inline int run_delete_fn(const Target& target, Frame& frame,
                                                const Pair& slot, SlotContent owned,
                                                id::Keyval keyval) {
  const Registry& registry = target.registry;
  frame.slot = &slot;
  frame.attachment = owned.meta;
  // The value's reference keeps the callbacks alive.
  const int code = run_delete(registry.callbacks(keyval), registry.convention(), target.object,
                              registry.number_of(keyval), owned.value, meta::tag(owned.meta));
  frame.slot = nullptr;
  return code;
}

inline void tell(int code, int* callback_code) {
  if (callback_code != nullptr) *callback_code = code;
}
inline int fail(int code, int* callback_code) {
  tell(code, callback_code);
  return ATTRCACHE_ERR_CALLBACK;
}

// Ends the claim of a value whose delete_fn has failed. Whether the value is gone.
[[gnu::noinline, gnu::cold]] bool end_failed_deletion(const Registry& registry, slot::Claim claim,
                                                      id::Keyval keyval, OnFailure on_failure);

// Deletes a value that the calling thread has claimed and nobody holds: runs its delete_fn, and
// ends the claim. True: the value is gone, and its reference on the keyval is the caller's to drop.
// False: delete_fn has failed, and the value is attached as it was (unless its keyval deletes
// once).
[[gnu::always_inline]] inline bool delete_claimed(const Target& target, Frame& frame,
                                                  const Pair& slot, slot::Claim& claim,
                                                  SlotContent claimed, id::Keyval keyval,
                                                  OnFailure on_failure, int* code) {
  *code = run_delete_fn(target, frame, slot, claimed, keyval);
  if (frame.table_died) return true;
  if (*code != 0) [[unlikely]]
    return end_failed_deletion(target.registry, claim, keyval, on_failure);
  claim.detach(id::offset(keyval));  // (S12)
  return true;
}

// ---- First looks ----

// The slot of a keyval, or null if it was never needed.
[[gnu::always_inline]] inline Pair* find_slot(Table& table, id::Keyval keyval) {
  return table.at_offset(id::slot_offset(keyval));
}

// Takes a reference on a keyval whose slot was found, and sets *name to the keyval's. Returns the
// counter, or null: the thread's stripe isn't open, or is contended, or there is no such keyval.
[[gnu::always_inline]] inline References::Counter* take_open(Registry& registry, id::Keyval keyval,
                                                             stripe::Name* name) {
  const unsigned ordinal = this_thread().ordinal;
  if (ordinal == 0) [[unlikely]]
    return nullptr;
  References::Counter* const counter = registry.counters(id::slot_offset(keyval), ordinal);
  if (counter == nullptr) [[unlikely]]
    return nullptr;
  return References::acquire_open(*counter, keyval, name) ? counter : nullptr;
}

// The same in any case. kNone: there is no such keyval.
[[gnu::always_inline]] inline stripe::Name take(Registry& registry, id::Keyval keyval) {
  stripe::Name name;
  return take_open(registry, keyval, &name) != nullptr ? name : registry.acquire(keyval);
}

// All other deletes.
[[gnu::noinline]] int continue_delete(Registry& registry, Table& table, void* object,
                                      id::Keyval keyval, int* callback_code);

[[gnu::always_inline]] inline int delete_attribute(const Target& target, id::Keyval keyval,
                                                   int* callback_code) {
  Registry& registry = target.registry;
  Pair* const slot = find_slot(target.table, keyval);
  if (slot != nullptr) [[likely]] {
    uint64_t now = slot->load_meta();
    if (meta::replaceable_at_once(now, keyval) && registry.is_kind_of(keyval) &&
        slot::detach(*slot, id::offset(keyval), now)) {  // (S3)
      registry.drop_in_stripe(keyval, this_thread().ordinal);
      return ATTRCACHE_OK;
    }
  }
  return continue_delete(registry, target.table, target.object, keyval, callback_code);
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_ATTRIBUTE_H_
