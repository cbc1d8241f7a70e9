// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/attribute.h"

#include "table/hand_off.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// How many sets of one attribute may be nested, each within the delete_fn that the one before runs.
constexpr unsigned kMaxNestedSets = 16;

[[gnu::always_inline]] inline stripe::Name take_reference(Registry& registry, id::Keyval keyval) {
  stripe::Name name;
  return take_open(registry, keyval, &name) ? name : take_slowly(registry, keyval);
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
[[gnu::noinline]] bool take_back(const Target& target, Pair& slot, SlotContent old,
                                 SlotContent replacement, id::Keyval keyval) {
  SlotContent again = {0, 0};
  const bool once = deletes_once(target.registry.callbacks(keyval));
  if (!once) {
    const uint64_t m = meta::taken_back(old.meta);
    again = {old.value, m != 0 ? m
                               : meta::attached(meta::like(old.meta), meta::tag(old.meta),
                                                target.table.tick())};
  }
  if (!slot::take_back(slot, replacement, again)) return false;  // (S7)
  // The caller still has one of the two values' references to drop.
  if (once) drop_reference(target.registry, keyval);
  return true;
}

// Replaces a value that has a delete_fn, and deletes it.
[[gnu::always_inline]] inline int exchange_and_delete(const Target& target, Pair& slot,
                                                      SlotContent now, id::Keyval keyval,
                                                      uint64_t value, attrcache_tag tag,
                                                      int* callback_code) {
  Registry& registry = target.registry;
  ThreadState& thread = registry.threads().self();
  const unsigned nested = nested_sets(thread, target.table, slot);
  if (nested == kMaxNestedSets) [[unlikely]]
    return ATTRCACHE_ERR_REATTACHED;
  Deletion deletion(target, slot, keyval);
  if (!deletion.prepare(now)) [[unlikely]]
    return ATTRCACHE_ERR_MEMORY;
  const stripe::Name name = take_reference(registry, keyval);
  if (name == kNotTaken) [[unlikely]]
    return registry.why_not(keyval);
  const SlotContent replacement = {value, meta::attached(name, tag, target.table.tick())};
  target.table.mark_replaced();
  if (!slot::exchange(slot, now, replacement)) [[unlikely]] {  // (S6)
    registry.drop(keyval);
    return kChanged;
  }
  // From here on the new value's reference is the slot's, and the old one's is ours; the two are
  // interchangeable.
  if (deletion.hand_off(now, nullptr)) return ATTRCACHE_OK;
  TableScope scope(thread, &target.table, Frame::Use::kDeleting, deletion.cell(), nested + 1);
  const int code = run_delete_fn(target, scope, slot, now, keyval);
  int result = ATTRCACHE_OK;
  if (code != 0) [[unlikely]] {
    tell(code, callback_code);
    if (!scope.table_died() && take_back(target, slot, now, replacement, keyval))
      result = ATTRCACHE_ERR_CALLBACK;
  }
  drop_reference(registry, keyval);
  return result;
}

// Attaches the value to a slot that is empty, or whose value is being deleted. Otherwise returns
// what present(content) does, or starts over if that is kChanged.
template <typename Present>
[[gnu::always_inline]] inline int attach_unless(const Target& target, Pair*& at, id::Keyval keyval,
                                                uint64_t value, attrcache_tag tag,
                                                Present present) {
  Registry& registry = target.registry;
  if (!registry.is_kind_of(keyval)) [[unlikely]]
    return registry.why_not(keyval);
  if (at == nullptr) [[unlikely]] {
    if (const int error = make_slot(registry, target.table, keyval, &at)) return error;
  }
  Pair& slot = *at;
  for (;;) {
    SlotContent now = slot.load();
    const bool empty = meta::empty(now.meta);
    // If it is occupied under another generation, this keyval was gone before that one began.
    if (!empty && !meta::belongs(now.meta, keyval)) return registry.why_not(keyval);
    if (!empty && !meta::deleting(now.meta)) {
      const int result = present(now);
      if (result == kChanged) continue;
      return result;
    }
    const stripe::Name name = take_reference(registry, keyval);
    if (name == kNotTaken) return registry.why_not(keyval);
    const SlotContent made = {value, meta::attached(name, tag, target.table.tick())};
    if (!empty) target.table.mark_replaced();
    if (empty ? slot::attach(slot, now, made)          // (S1)
              : slot::attach_over(slot, now, made)) {  // (S11)
      return ATTRCACHE_OK;
    }
    registry.drop(keyval);
  }
}

}  // namespace

void drop_reference(Registry& registry, id::Keyval keyval) { drop_detached(registry, keyval); }

stripe::Name take_slowly(Registry& registry, id::Keyval keyval) {
  if (registry.look_up(keyval) == 0 || !registry.acquire(keyval)) return kNotTaken;
  // While the reference is held, the entry's word is that of this keyval.
  return stripe::name(keyval, entry_word::flags(registry.look_up(keyval)));
}

bool is_deleting(const ThreadState& thread, const Table& table, const Pair& slot, uint64_t m) {
  bool deleting = false;
  for_each_frame_of(thread.innermost, &table, [&](const Frame& f) {
    if (f.use == Frame::Use::kDeleting && f.slot == &slot && !f.table_died &&
        f.attachment == meta::sequence(m)) {
      deleting = true;
    }
  });
  return deleting;
}

int continue_set(Target target, Pair* slot, id::Keyval keyval, uint64_t value, attrcache_tag tag,
                 int* callback_code, bool in_vain) {
  if (in_vain) target.registry.drop(keyval);
  return attach_unless(
      target, slot, keyval, value, tag, [&](SlotContent now) __attribute__((always_inline)) {
        if (!meta::no_delete_fn(now.meta)) [[likely]] {
          return exchange_and_delete(target, *slot, now, keyval, value, tag, callback_code);
        }
        const uint64_t replacement = slot::successor(target.table, now.meta, tag);
        return slot::replace(*slot, now, {value, replacement})  // (S2)
                   ? ATTRCACHE_OK
                   : kChanged;
      });
}

int set_attribute_if_absent(const Target& target, id::Keyval keyval, uint64_t value,
                            attrcache_tag tag, void** present) {
  Pair* slot = find_slot(target.table, keyval);
  return attach_unless(target, slot, keyval, value, tag, [&](SlotContent now) {
    if (present != nullptr)
      *present = seen_by_c(now.value, slot->value_address(), meta::tag(now.meta));
    return ATTRCACHE_PRESENT;
  });
}

int continue_delete(Target target, Pair* found, id::Keyval keyval, OnFailure on_failure,
                    int* callback_code) {
  Registry& registry = target.registry;
  if (registry.look_up(keyval) == 0) [[unlikely]]
    return registry.why_not(keyval);
  const int absent = on_failure == OnFailure::kKeep ? registry.result_for_user(ATTRCACHE_ABSENT)
                                                    : ATTRCACHE_ABSENT;
  if (found == nullptr) return absent;
  Pair& slot = *found;
  Deletion deletion(target, slot, keyval);
  slot::Claim claim;
  SlotContent now;
  for (;;) {
    now = slot.load();
    uint64_t m = now.meta;
    if (!meta::visible(m) || !meta::belongs(m, keyval)) return absent;
    if (meta::deleting(m)) {
      if (slot::hide(slot, m)) return ATTRCACHE_OK;  // (S10)
      continue;
    }
    if (meta::no_delete_fn(m)) {
      if (slot::detach(slot, m)) return drop_detached(registry, keyval);  // (S3)
      continue;
    }
    if (!deletion.prepare(now)) return ATTRCACHE_ERR_MEMORY;
    if (claim.take(slot, m)) break;  // (S8)
  }
  if (deletion.hand_off(now, &claim)) return ATTRCACHE_OK;
  TableScope scope(registry.threads().self(), &target.table, Frame::Use::kDeleting,
                   deletion.cell());
  int code;
  const bool gone = delete_claimed(target, scope, slot, claim, now, keyval, on_failure, &code);
  if (gone) drop_reference(registry, keyval);
  return code != 0 ? fail(code, callback_code) : ATTRCACHE_OK;
}

}  // namespace attrcache
