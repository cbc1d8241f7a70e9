// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// set of one attribute: a loop that looks at the slot and takes the step that this calls for
// (slot.h), because another thread may have been faster. Its first round is inlined: a caller that
// may run a delete_fn saves registers anyway, and has all at hand that the step needs.

#ifndef ATTRCACHE_TABLE_SET_H_
#define ATTRCACHE_TABLE_SET_H_

#include <cstdint>

#include "table/attribute.h"
#include "table/hand_off.h"

namespace attrcache {

// The slot has changed, or its value is being deleted, or the slot must be made first, or the
// thread's stripe opened. (No result of the API.)
inline constexpr int kNotSet = 1000;

// How many sets of one attribute may be nested, each within the delete_fn that the one before runs.
inline constexpr unsigned kMaxNestedSets = 16;

// How many sets of that slot's attribute are running a delete_fn up this thread's stack.
unsigned nested_sets(const ThreadState& thread, const Table& table, const Pair& slot);

// Attaches a value again whose delete_fn has failed, in place of the one that has replaced it; or
// nothing, if its keyval deletes once. False: another call has held, deleted or replaced the new
// value, or it was deleted with the object. So this set has succeeded.
bool take_back(Registry& registry, Table& table, Pair& slot, SlotContent old,
               SlotContent replacement, id::Keyval keyval);

// Drops the reference of a value that wasn't attached, since the slot has changed. If the keyval
// ends by that, its destructor may have freed the object, which isn't looked at any more.
inline int give_up_set(Registry& registry, id::Keyval keyval) {
  return registry.drop(keyval) ? registry.why_not(keyval) : kNotSet;
}

// Replaces a value that has a delete_fn, and deletes it.
[[gnu::always_inline]] inline int exchange_and_delete(const Target& target, Pair& slot,
                                                      SlotContent now, Key key, uint64_t value,
                                                      int* callback_code) {
  Registry& registry = target.registry;
  Deletion deletion(registry.readers());
  if (!deletion.prepare(target.table, now)) [[unlikely]]
    return ATTRCACHE_ERR_MEMORY;
  ThreadState& thread = registry.threads().self();
  unsigned nested = 0;
  if (thread.innermost != nullptr) [[unlikely]] {
    nested = nested_sets(thread, target.table, slot);
    if (nested == kMaxNestedSets) return ATTRCACHE_ERR_REATTACHED;
  }
  stripe::Name name;
  References::Counter* const counter = take_open(registry, key.keyval, &name);
  if (counter == nullptr && (name = registry.acquire(key.keyval)) == stripe::Name::kNone)
      [[unlikely]] {
    return registry.why_not(key.keyval);
  }
  const SlotContent replacement = {value, meta::attached(name, key.tag, target.table.tick())};
  target.table.mark();
  if (!slot::put(slot, now, replacement)) [[unlikely]]  // (S6)
    return give_up_set(registry, key.keyval);
  // From here on the new value's reference is the slot's, and the old one's is ours; the two are
  // interchangeable.
  if (deletion.hand_off(target, thread, slot, key.keyval, now, nullptr)) return ATTRCACHE_OK;
  Frame frame(thread, &target.table, Frame::Use::kDeleting, deletion.cell(), nested + 1);
  const int code = run_delete_fn(target, frame, slot, now, key.keyval);
  int result = ATTRCACHE_OK;
  if (code != 0) [[unlikely]] {
    tell(code, callback_code);
    if (!frame.table_died && take_back(registry, target.table, slot, now, replacement, key.keyval))
      result = ATTRCACHE_ERR_CALLBACK;
  }
  if (counter == nullptr || !References::drop_open(*counter)) [[unlikely]]
    registry.drop(key.keyval);
  return result;
}

// One round, where the slot exists and no thread is deleting what is there. Or kNotSet.
[[gnu::always_inline]] inline int set_once(const Target& target, Key key, uint64_t value,
                                           int* callback_code) {
  Registry& registry = target.registry;
  Table& table = target.table;
  const id::Keyval keyval = key.keyval;
  Pair* const slot = find_slot(table, keyval);
  if (slot == nullptr) [[unlikely]]
    return kNotSet;
  SlotContent now = slot->load();
  if (meta::replaceable_at_once(now.meta, keyval) && registry.is_kind_of(keyval)) {
    const uint64_t replacement = slot::successor(table, now.meta, key.tag);
    return slot::put(*slot, now, {value, replacement}) ? ATTRCACHE_OK : kNotSet;  // (S2)
  }
  if (meta::empty(now.meta)) {
    stripe::Name name;
    if (take_open(registry, keyval, &name) == nullptr) [[unlikely]]
      return kNotSet;
    count_attribute(*slot, id::offset(keyval));
    if (slot::put(*slot, now, {value, meta::attached(name, key.tag, table.tick())})) [[likely]]
      return ATTRCACHE_OK;  // (S1)
    uncount_attribute(*slot, id::offset(keyval));
    return give_up_set(registry, keyval);
  }
  if (!meta::holdable(now.meta, keyval)) return kNotSet;
  return exchange_and_delete(target, *slot, now, key, value, callback_code);
}

// All rounds of a set, of which the first makes what may be missing.
[[gnu::noinline]] int continue_set(Registry& registry, Table& table, void* object, Key key,
                                   uint64_t value, int* callback_code);

[[gnu::always_inline]] inline int set_attribute(const Target& target, Key key, uint64_t value,
                                                int* callback_code) {
  const int result = set_once(target, key, value, callback_code);
  if (result != kNotSet) [[likely]]
    return result;
  return continue_set(target.registry, target.table, target.object, key, value, callback_code);
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_SET_H_
