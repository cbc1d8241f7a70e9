// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/attribute.h"

#include "table/hand_off.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// How many sets of one attribute may be nested, each within the delete_fn that the one before runs.
constexpr unsigned kMaxNestedSets = 16;

// Takes a reference, and sets *counter to the one that counts it, or null.
[[gnu::always_inline]] inline stripe::Name take_reference(Registry& registry, id::Keyval keyval,
                                                          References::Counter** counter) {
  stripe::Name name;
  *counter = take_open(registry, keyval, &name);
  return *counter != nullptr ? name : take_slowly(registry, keyval);
}

// Makes the slot of a keyval, and sets *slot. If it fails, returns the error.
[[gnu::noinline]] int make_slot(Registry& registry, Table& table, id::Keyval keyval, Pair** slot) {
  // The table may grow only if the keyval is alive, which taking a reference ensures.
  if (take_slowly(registry, keyval) == kNotTaken) return registry.why_not(keyval);
  *slot = table.find_or_grow(id::index(keyval), registry.memory());
  registry.drop(keyval);
  return *slot != nullptr ? ATTRCACHE_OK : ATTRCACHE_ERR_MEMORY;
}

// How many sets of that slot's attribute are running a delete_fn up this thread's stack.
unsigned nested_sets(const ThreadState& thread, const Table& table, const Pair& slot) {
  unsigned sets = 0;
  for_each_frame_of(thread.innermost, &table, [&](const Frame& f) {
    if (f.slot == &slot && f.sets > sets && !f.table_died) sets = f.sets;
  });
  return sets;
}

// The slot has changed before the set took effect. (No result of the API.)
constexpr int kChanged = 1000;

// Attaches a value again whose delete_fn has failed, in place of the one that has replaced it; or
// nothing, if its keyval deletes once. False: another call has held, deleted or replaced the new
// value, or it was deleted with the object. So this set has succeeded.
[[gnu::noinline]] bool take_back(Registry& registry, Table& table, Pair& slot, SlotContent old,
                                 SlotContent replacement, id::Keyval keyval) {
  SlotContent again = {0, 0};
  const bool once = deletes_once(registry.callbacks(keyval));
  if (!once) {
    const uint64_t m = meta::taken_back(old.meta);
    again = {old.value,
             m != 0 ? m : meta::attached(meta::like(old.meta), meta::tag(old.meta), table.tick())};
  }
  if (!slot::take_back(slot, replacement, again)) return false;  // (S7)
  // The caller still has one of the two values' references to drop.
  if (once) registry.drop(keyval);
  return true;
}

// Replaces a value that has a delete_fn, and deletes it.
[[gnu::always_inline]] inline int exchange_and_delete(const Target& target, Pair& slot,
                                                      SlotContent now, Key key, uint64_t value,
                                                      int* callback_code) {
  Registry& registry = target.registry;
  Deletion deletion(registry.readers());
  if (!deletion.prepare(target.table, now)) [[unlikely]]
    return ATTRCACHE_ERR_MEMORY;
  ThreadState* thread = &this_thread();
  unsigned nested = 0;
  if (!deletion.is_by_os_thread() || thread->innermost != nullptr) [[unlikely]] {
    thread = &registry.threads().self();
    nested = nested_sets(*thread, target.table, slot);
    if (nested == kMaxNestedSets) return ATTRCACHE_ERR_REATTACHED;
  }
  References::Counter* counter;
  const stripe::Name name = take_reference(registry, key.keyval, &counter);
  if (name == kNotTaken) [[unlikely]]
    return registry.why_not(key.keyval);
  const SlotContent replacement = {value, meta::attached(name, key.tag, target.table.tick())};
  target.table.mark_replaced();
  if (!slot::put(slot, now, replacement)) [[unlikely]] {  // (S6)
    registry.drop(key.keyval);
    return kChanged;
  }
  // From here on the new value's reference is the slot's, and the old one's is ours; the two are
  // interchangeable.
  if (deletion.hand_off(target, slot, key.keyval, now, nullptr)) return ATTRCACHE_OK;
  TableScope scope(*thread, &target.table, Frame::Use::kDeleting, deletion.cell(), nested + 1);
  const int code = run_delete_fn(target, scope, slot, now, key.keyval);
  int result = ATTRCACHE_OK;
  if (code != 0) [[unlikely]] {
    tell(code, callback_code);
    if (!scope.table_died() &&
        take_back(registry, target.table, slot, now, replacement, key.keyval))
      result = ATTRCACHE_ERR_CALLBACK;
  }
  if (counter == nullptr || !References::drop_open(*counter)) [[unlikely]]
    registry.drop_slowly(key.keyval);
  return result;
}

// Attaches the value to a slot that is empty, or whose value is being deleted. kChanged: by now it
// has a value that isn't.
[[gnu::noinline]] int attach(Registry& registry, Table& table, Key key, uint64_t value) {
  const id::Keyval keyval = key.keyval;
  if (!registry.is_kind_of(keyval)) [[unlikely]]
    return registry.why_not(keyval);
  Pair* slot = find_slot(table, keyval);
  if (slot == nullptr) [[unlikely]] {
    if (const int error = make_slot(registry, table, keyval, &slot)) return error;
  }
  for (;;) {
    SlotContent now = slot->load();
    const bool empty = meta::empty(now.meta);
    // If it is occupied under another generation, this keyval was gone before that one began.
    if (!empty && !meta::belongs(now.meta, keyval)) return registry.why_not(keyval);
    if (!empty && !meta::deleting(now.meta)) return kChanged;
    References::Counter* counter;
    const stripe::Name name = take_reference(registry, keyval, &counter);
    if (name == kNotTaken) return registry.why_not(keyval);
    const SlotContent made = {value, meta::attached(name, key.tag, table.tick())};
    if (!empty) table.mark_replaced();
    if (slot::put(*slot, now, made)) return ATTRCACHE_OK;  // (S1, S11)
    registry.drop(keyval);
  }
}

// A loop in continue_set would have it compute beforehand what only further rounds need.
[[gnu::noinline]] int next_round_of_set(Registry& registry, Table& table, void* object, Key key,
                                        uint64_t value, int* callback_code) {
  return continue_set(registry, table, object, key, value, callback_code);
}

}  // namespace

stripe::Name take_slowly(Registry& registry, id::Keyval keyval) {
  if (registry.look_up(keyval) == 0 || !registry.acquire(keyval)) return kNotTaken;
  // While the reference is held, the entry's word is that of this keyval.
  return stripe::name(keyval, entry_word::flags(registry.look_up(keyval)));
}

bool is_deleting(const ThreadState& thread, const Table& table, const Pair& slot, uint64_t m) {
  bool deleting = false;
  for_each_frame_of(thread.innermost, &table, [&](const Frame& f) {
    if (f.use == Frame::Use::kDeleting && f.slot == &slot && !f.table_died &&
        meta::sequence(f.attachment) == meta::sequence(m)) {
      deleting = true;
    }
  });
  return deleting;
}

int continue_set(Registry& registry, Table& table, void* object, Key key, uint64_t value,
                 int* callback_code) {
  Pair* const slot = find_slot(table, key.keyval);
  SlotContent now;
  int result;
  if (slot == nullptr || !meta::holdable((now = slot->load()).meta, key.keyval) ||
      !registry.is_kind_of(key.keyval)) [[unlikely]] {
    result = attach(registry, table, key, value);
  } else if (!meta::no_delete_fn(now.meta)) [[likely]] {
    result = exchange_and_delete({registry, table, object}, *slot, now, key, value, callback_code);
  } else {
    const uint64_t replacement = slot::successor(table, now.meta, key.tag);
    result = slot::put(*slot, now, {value, replacement}) ? ATTRCACHE_OK : kChanged;  // (S2)
  }
  if (result != kChanged) [[likely]]
    return result;
  return next_round_of_set(registry, table, object, key, value, callback_code);
}

int continue_set_in_vain(Registry& registry, Table& table, void* object, Key key, uint64_t value,
                         int* callback_code) {
  registry.drop(key.keyval);
  return continue_set(registry, table, object, key, value, callback_code);
}

int continue_set_if_absent(Registry& registry, Table& table, Key key, uint64_t value,
                           void** present) {
  const int result = attach(registry, table, key, value);
  return result != kChanged ? result
                            : set_attribute_if_absent(registry, table, key, value, present);
}

int continue_delete(Registry& registry, Table& table, void* object, id::Keyval keyval,
                    int* callback_code) {
  if (registry.look_up(keyval) == 0) [[unlikely]]
    return registry.why_not(keyval);
  Pair* const found = find_slot(table, keyval);
  if (found == nullptr) return registry.result_for_user(ATTRCACHE_ABSENT);
  const Target target = {registry, table, object};
  Pair& slot = *found;
  Deletion deletion(registry.readers());
  slot::Claim claim;
  SlotContent now;
  for (;;) {
    now = slot.load();
    uint64_t m = now.meta;
    if (!meta::visible(m) || !meta::belongs(m, keyval))
      return registry.result_for_user(ATTRCACHE_ABSENT);
    if (meta::deleting(m)) {
      if (slot::hide(slot, m)) return ATTRCACHE_OK;  // (S10)
      continue;
    }
    if (meta::no_delete_fn(m)) {
      if (!slot::detach(slot, m)) continue;  // (S3)
      registry.drop_in_stripe(keyval, this_thread().ordinal);
      return ATTRCACHE_OK;
    }
    if (!deletion.prepare(table, now)) return ATTRCACHE_ERR_MEMORY;
    if (claim.take(slot, m)) break;  // (S8)
  }
  if (deletion.hand_off(target, slot, keyval, now, &claim)) return ATTRCACHE_OK;
  TableScope scope(registry.threads().self(), &table, Frame::Use::kDeleting, deletion.cell());
  const unsigned ordinal = this_thread().ordinal;
  int code;
  if (delete_claimed(target, scope, slot, claim, now, keyval, OnFailure::kKeep, &code))
    registry.drop_in_stripe(keyval, ordinal);
  return code != 0 ? fail(code, callback_code) : ATTRCACHE_OK;
}

}  // namespace attrcache
