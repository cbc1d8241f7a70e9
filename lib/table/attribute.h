// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// set, delete and borrow of one attribute, in all cases. The steps that they take are in slot.h.
//
// What was read of a keyval may be acted upon only if a reference on the keyval was held when it
// was read: a reference of the caller's, or that of the value that is found attached. Until a
// reference is held, the keyval may end, and the same int may come to mean another keyval, which
// has a delete_fn, say.

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

// On whose behalf an attribute is changed. Only the runtime may change predefined attributes.
enum class Caller { kUser, kRuntime };

// Whether the caller of a set holds a reference on the keyval. If so, the call takes it over.
enum class Held { kNo, kYes };

int set_attribute(const Target& target, uint32_t keyval, uint64_t value, attrcache_tag tag,
                  Caller caller, int* callback_code, Held held = Held::kNo);

// The same for a value that a dup has made, on the slot of its index, which is nearly always empty.
// The caller gives its reference away by the call.
int set_copy(const Target& target, Pair& slot, uint32_t keyval, uint64_t value, attrcache_tag tag,
             int* callback_code);

enum class OnFailure { kKeep, kDetach };  // what becomes of a value whose delete_fn fails

enum class DeleteFn { kRun, kSkip };  // whether delete_fn is called, if there is one

// ATTRCACHE_ABSENT: there was nothing to delete.
int delete_attribute(const Target& target, uint32_t keyval, Caller caller, OnFailure on_failure,
                     int* callback_code, DeleteFn delete_fn = DeleteFn::kRun);

// The same on a slot, for a caller who has found a value of the keyval there.
int delete_in_slot(const Target& target, Pair& slot, uint32_t keyval, Caller caller,
                   OnFailure on_failure, int* callback_code, DeleteFn delete_fn = DeleteFn::kRun);

// What is inside an attrcache_borrowed.
struct Borrowed {
  void* value;
  Borrow borrow;
  const Registry* registry;
  uint64_t thread;  // the identity of the borrowing thread
  uint64_t seal;    // tells a borrow from other memory, and from a copy of a borrow
};
static_assert(sizeof(Borrowed) <= sizeof(attrcache_borrowed));

int borrow_attribute(Registry& registry, Table& table, uint32_t keyval, Borrowed* borrowed);
int give_back_attribute(Borrowed* borrowed);

// Pins the value under `keyval`. If a replacing set is under way, it waits for the set to end.
// Returns OK, and in `word` what was pinned; ABSENT, also if a deletion has begun; ERR_DELETING, if
// the replacing set is up the caller's own stack, so that waiting would never end; or ERR_PINNED.
int pin_value_slowly(const Registry& registry, Pair& slot, uint32_t keyval, SlotContent* word);
[[gnu::always_inline]] inline int pin_value(const Registry& registry, Pair& slot, uint32_t keyval,
                                            SlotContent* word) {
  if (uint64_t m = slot.load_meta(); meta::pinnable_unclaimed(m, keyval) && slot::pin(slot, m))
      [[likely]] {        // (S10)
    *word = slot.load();  // only now: a value may be replaced under the same meta, but not pinned
    return ATTRCACHE_OK;
  }
  return pin_value_slowly(registry, slot, keyval, word);
}

// Whether the thread itself, further up its stack, is deleting the value that has the meta `m`.
bool is_deleting(const ThreadState& thread, const Pair& slot, uint64_t m);

// Drops a reference on a keyval after a callback. It must not be inlined: within the callback a
// user-level thread may have moved to another thread of the operating system, so the address of
// thread-local variables must be computed anew.
[[gnu::noinline]] void drop_reference(Registry& registry, uint32_t keyval);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_ATTRIBUTE_H_
