// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/attribute.h"

#include "table/hand_off.h"
#include "table/meta.h"
#include "table/set.h"

namespace attrcache {
namespace {

// An attribute that was found: its slot, and what the slot held at one instant.
struct Found {
  const Pair* slot;
  SlotContent word;
};

// Attaches the value to a slot that is empty, or whose value is being deleted. kNotSet: there is a
// value that nobody is deleting, which is in *there.
[[gnu::always_inline]] inline int attach(Registry& registry, Table& table, Key key, uint64_t value,
                                         Found* there) {
  const id::Keyval keyval = key.keyval;
  if (!registry.is_kind_of(keyval)) [[unlikely]]
    return registry.why_not(keyval);
  Pair* slot = find_slot(table, keyval);
  if (slot == nullptr) [[unlikely]] {
    if (registry.look_up(keyval) == 0) return registry.why_not(keyval);
    slot = table.grow(id::index(keyval), registry.memory());
    if (slot == nullptr) return ATTRCACHE_ERR_MEMORY;
  }
  for (;;) {
    SlotContent now = slot->load();
    const bool empty = meta::empty(now.meta);
    // If it is occupied under another generation, this keyval was gone before that one began.
    if (!empty && !meta::belongs(now.meta, keyval)) return registry.why_not(keyval);
    if (!empty && !meta::deleting(now.meta)) {
      *there = {slot, now};
      return kNotSet;
    }
    const stripe::Name name = take(registry, keyval);
    if (name == stripe::Name::kNone) return registry.why_not(keyval);
    const SlotContent made = {value, meta::attached(name, key.tag, table.tick())};
    if (!empty) table.mark();
    count_attribute(*slot, id::offset(keyval));
    if (slot::put(*slot, now, made)) [[likely]]
      return ATTRCACHE_OK;  // (S1, S11)
    uncount_attribute(*slot, id::offset(keyval));
    if (registry.drop(keyval)) return registry.why_not(keyval);
  }
}

}  // namespace

unsigned nested_sets(const ThreadState& thread, const Table& table, const Pair& slot) {
  unsigned sets = 0;
  any_frame_of(thread.innermost, &table, [&](const Frame& f) {
    if (f.slot == &slot) sets = f.sets;  // the innermost of them knows
    return sets != 0;
  });
  return sets;
}

bool take_back(Registry& registry, Table& table, Pair& slot, SlotContent old,
               SlotContent replacement, id::Keyval keyval) {
  if (deletes_once(registry.callbacks(keyval))) {
    // By its meta alone, which says all: a visible value is only replaced by another (pair.h).
    if (!slot::detach(slot, id::offset(keyval), replacement.meta)) return false;  // (S7)
    registry.drop(keyval);  // the caller still has the other value's reference to drop
    return true;
  }
  const uint64_t again = meta::taken_back(old.meta);
  return slot::put(  // (S7)
      slot, replacement,
      {old.value, again != 0
                      ? again
                      : meta::attached(meta::like(old.meta), meta::tag(old.meta), table.tick())});
}

bool end_failed_deletion(const Registry& registry, slot::Claim claim, id::Keyval keyval,
                         OnFailure on_failure) {
  if (on_failure == OnFailure::kKeep && !deletes_once(registry.callbacks(keyval)))
    return !claim.restore(id::offset(keyval));  // (S9)
  claim.detach(id::offset(keyval));             // (S12)
  return true;
}

bool is_deleting(const ThreadState& thread, const Table& table, const Pair& slot, uint64_t m) {
  return any_frame_of(thread.innermost, &table, [&](const Frame& f) {
    return f.use == Frame::Use::kDeleting && f.slot == &slot &&
           meta::sequence(f.attachment) == meta::sequence(m);
  });
}

int continue_set(Registry& registry, Table& table, void* object, Key key, uint64_t value,
                 int* callback_code) {
  for (;;) {
    Found there = {};
    int result = attach(registry, table, key, value, &there);
    if (result == kNotSet) result = set_once({registry, table, object}, key, value, callback_code);
    if (result != kNotSet) return result;
  }
}

int set_attribute_if_absent(Registry& registry, Table& table, Key key, uint64_t value,
                            void** present) {
  Found there = {};
  const int result = attach(registry, table, key, value, &there);
  if (result != kNotSet) return result;
  const SlotContent found = there.word;
  if (present != nullptr)
    *present = seen_by_c(found.value, there.slot->value_address(), meta::tag(found.meta));
  return ATTRCACHE_PRESENT;
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
      if (!slot::detach(slot, id::offset(keyval), m)) continue;  // (S3)
      registry.drop_in_stripe(keyval, this_thread().ordinal);
      return ATTRCACHE_OK;
    }
    if (!deletion.prepare(table, now)) return ATTRCACHE_ERR_MEMORY;
    table.mark();
    if (claim.take(slot, m)) break;  // (S8)
  }
  ThreadState& thread = registry.threads().self();
  if (deletion.hand_off(target, thread, slot, keyval, now, &claim)) return ATTRCACHE_OK;
  Frame frame(thread, &table, Frame::Use::kDeleting, deletion.cell());
  const unsigned ordinal = this_thread().ordinal;
  int code;
  if (delete_claimed(target, frame, slot, claim, now, keyval, OnFailure::kKeep, &code))
    registry.drop_in_stripe(keyval, ordinal);
  return code != 0 ? fail(code, callback_code) : ATTRCACHE_OK;
}

}  // namespace attrcache
