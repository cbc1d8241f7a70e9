// SPDX-License-Identifier: Apache-2.0
//
// set, delete and borrow of one attribute: the slot protocol.
//
//                  set (S1)                 claim (S2)
//   empty -----------------> attached -----------------> deleting
//     ^                       ^ |  ^                      |  |  |  deleted by others (S6)
//     |  delete, quick (S4)   | |  |  delete_fn failed    |  |  v
//     |<----------------------+-'  '-------- (S5) --------'  | deleting, hidden
//     |                       |   set, quick (S3): -> itself |  |
//     |                       '--- set by others (S7), ------+--|
//     |                            by the claimer (S8)       |  |
//     '------------------------ delete_fn succeeded (S9) ----'--'
//
// Quick: the keyval has no delete_fn.
//
// Whoever moves attached -> deleting owns the value: it alone runs delete_fn, and then holds the
// value's reference on the keyval. Whoever replaces or detaches a value that has no delete_fn owns
// it in one step. Pins are raised (S10) on attached only and keep S2, S3 and S4 off.
//
// Linearization: set at S1, S3, S7 or S8; delete at S4, S6 or S9, or at the load that finds
// nothing; get and borrow at their load of the slot, or S10.

#ifndef ATTRCACHE_TABLE_ATTRIBUTE_H_
#define ATTRCACHE_TABLE_ATTRIBUTE_H_

#include <cstdint>

#include "callback/frame.h"
#include "callback/language.h"
#include "keyval/registry.h"
#include "table/meta.h"
#include "table/table.h"

namespace attrcache {

// The object that an operation is on.
struct Target {
  Registry& registry;
  Table& table;
  void* object;
};

enum class Caller { kUser, kRuntime };  // the runtime may set and remove predefined attributes

int set_attribute(const Target& target, uint32_t keyval, uint64_t value, attrcache_tag tag,
                  Caller caller, int* callback_code);

enum class OnFailure { kKeep, kDetach };  // what becomes of a value whose delete_fn fails

int delete_attribute(const Target& target, uint32_t keyval, Caller caller, OnFailure on_failure,
                     int* callback_code);

// attrcache_borrowed, inside.
struct Borrowed {
  void* value;
  Frame frame;
  unsigned thread;
  uint32_t state;
};
static_assert(sizeof(Borrowed) <= sizeof(attrcache_borrowed));

int borrow_attribute(Registry& registry, Table& table, uint32_t keyval, Borrowed* borrowed);
int give_back_attribute(Borrowed* borrowed);

// The meta of a value that replaces (S3) one whose meta is `replaced`. It inherits the number if
// that is the youngest in the table: no other attachment comes between the two in any order, and a
// number costs as much as all the rest of a set. So under a keyval without delete_fn an unchanged
// meta says that the slot is still occupied, in that place of the order and with that tag, not by
// which value. Nobody minds: whoever empties the slot deletes what is there, and who pins looks at
// the value later.
inline uint64_t successor(Table& table, uint64_t replaced, attrcache_tag tag) {
  // Relaxed: numbers that happen before this one are seen, as those of tick(). The tag: a load of
  // two steps (pair_arm.h) must not see one tag before and after a value set with another.
  if (meta::has_sequence(replaced, table.clock.load(kRelaxed)) && meta::has_tag(replaced, tag))
      [[likely]]
    return replaced;
  return meta::attached(meta::upper(replaced), tag, table.tick());
}

// Raises the pin count of the visible, undeleted value under `keyval`. OK, ABSENT (also while it is
// being deleted) or PINNED; `word` is what was pinned.
int pin_value(Pair& slot, uint32_t keyval, Word* word);
void unpin_value(Pair& slot);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_ATTRIBUTE_H_
