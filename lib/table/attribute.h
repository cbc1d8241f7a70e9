// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// set and delete of one attribute, in all cases. The steps that they take are in slot.h.
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

// Whether the caller of a set holds a reference on the keyval. If so, the call takes it over.
enum class Held { kNo, kYes };

int set_attribute(const Target& target, id::Keyval keyval, uint64_t value, attrcache_tag tag,
                  int* callback_code, Held held = Held::kNo);

// Attaches the value if nothing is attached, or what is attached is being deleted. Otherwise
// ATTRCACHE_PRESENT, and *present is what get gives, unless `present` is null.
int set_attribute_if_absent(const Target& target, id::Keyval keyval, uint64_t value,
                            attrcache_tag tag, void** present);

enum class OnFailure { kKeep, kDetach };  // what becomes of a value whose delete_fn fails

// ATTRCACHE_ABSENT: there was nothing to delete.
int delete_attribute(const Target& target, id::Keyval keyval, OnFailure on_failure,
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
  // delete_fn gets a copy, because another value may be in the slot.
  const uint64_t value = owned.value;
  scope.begin(&slot, meta::sequence(owned.meta));
  const int code =
      run_delete(callbacks, {target.registry.convention(), target.object,
                             target.registry.number_of(keyval), &value, meta::tag(owned.meta)});
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

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_ATTRIBUTE_H_
