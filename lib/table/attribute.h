// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// set, delete and borrow of one attribute, in all cases. The steps they take are in slot.h.
//
// Nothing is attached or deleted on what was read of a keyval before a reference on it was held: by
// the caller, or by the value that is found attached. For until then the int may come round and
// mean another keyval, one that has a delete_fn, say.

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

enum class Caller { kUser, kRuntime };  // the runtime may set and delete predefined attributes

// Whether the caller of a set holds a reference on the keyval, which it gives away by the call.
enum class Held { kNo, kYes };

int set_attribute(const Target& target, uint32_t keyval, uint64_t value, attrcache_tag tag,
                  Caller caller, int* callback_code, Held held = Held::kNo);

enum class OnFailure { kKeep, kDetach };  // what becomes of a value whose delete_fn fails

int delete_attribute(const Target& target, uint32_t keyval, Caller caller, OnFailure on_failure,
                     int* callback_code);

// attrcache_borrowed, inside.
struct Borrowed {
  void* value;
  Borrow borrow;
  const Registry* registry;
  uint64_t thread;  // the identity of the borrower
  uint64_t seal;    // tells a borrow from memory that is none, and from a copy of one
};
static_assert(sizeof(Borrowed) <= sizeof(attrcache_borrowed));

int borrow_attribute(Registry& registry, Table& table, uint32_t keyval, Borrowed* borrowed);
int give_back_attribute(Borrowed* borrowed);

// Pins the value under `keyval`, having waited for a replacing set if one is under way. OK, and
// `word` is what was pinned; ABSENT, also where a deletion has begun; DELETING: a replacing set is
// up the caller's own stack; PINNED.
int pin_value(const Registry& registry, Pair& slot, uint32_t keyval, SlotContent* word);

// Whether the thread is deleting, up its stack, the value that a slot holds under the meta `m`.
bool is_deleting(const ThreadState& thread, const Pair& slot, uint64_t m);

// Drops a reference on a keyval after a callback. Not inline: a user-level thread may have come to
// another thread of the operating system in the callback, so the address of what is thread-local
// must be computed anew.
[[gnu::noinline]] void drop_reference(Registry& registry, uint32_t keyval);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_ATTRIBUTE_H_
