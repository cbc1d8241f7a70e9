// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/attribute.h"

#include "table/left.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// How many sets of one attribute may be nested, each within the delete_fn that the one before runs.
constexpr unsigned kMaxNestedSets = 16;

// A reference on a keyval. It is dropped at the end of the scope, unless an attached value has
// taken it over.
class Reference {
 public:
  Reference(Registry& registry, id::Keyval keyval, Held held)
      : registry_(registry), keyval_(keyval), held_(held == Held::kYes) {}
  ~Reference() {
    if (held_) drop_reference(registry_, keyval_);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  // Takes the reference, if it isn't held yet, and returns the word of the keyval's entry: while
  // the reference is held, that is the word of this keyval. 0: the keyval is gone.
  uint64_t take() {
    if (!held_) held_ = registry_.acquire(keyval_);
    return held_ ? registry_.look_up(keyval_) : 0;
  }
  void give() { held_ = false; }

 private:
  Registry& registry_;
  const id::Keyval keyval_;
  bool held_;
};

// The meta of a value attached now, under a keyval whose entry has this word.
uint64_t attached_now(const Target& target, uint64_t entry, id::Keyval keyval, attrcache_tag tag) {
  return meta::attached(stripe::name(keyval, entry_word::flags(entry)), tag, target.table.tick());
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

// Replaces a value that has a delete_fn, and deletes it. `reference` is the new value's. If it
// returns kChanged, `now` is what is in the slot.
int exchange_and_delete(const Target& target, Pair& slot, SlotContent& now, SlotContent replacement,
                        id::Keyval keyval, Reference& reference, int* callback_code) {
  Registry& registry = target.registry;
  ThreadState& thread = registry.threads().self();
  const unsigned nested = nested_sets(thread, target.table, slot);
  if (nested == kMaxNestedSets) return ATTRCACHE_ERR_REATTACHED;
  Deletion deletion(target, slot, keyval);
  if (!deletion.prepare(now)) return ATTRCACHE_ERR_MEMORY;
  target.table.mark_replaced();
  if (!slot::exchange(slot, now, replacement)) return kChanged;  // (S6)
  // From here on the new value's reference is the slot's, and the old one's is ours; the two are
  // interchangeable.
  if (deletion.leave(nullptr)) {
    reference.give();
    return ATTRCACHE_OK;
  }
  TableScope scope(thread, &target.table, Frame::Use::kDeleting, deletion.cell(), nested + 1);
  const int code = run_delete_fn(target, scope, slot, now, keyval);
  if (code == 0) return ATTRCACHE_OK;
  if (!scope.table_died()) {
    const bool once = deletes_once(registry.callbacks(keyval));
    SlotContent again = {0, 0};
    if (!once) {
      const uint64_t m = meta::taken_back(now.meta);
      again = {now.value, m != 0 ? m
                                 : meta::attached(meta::like(now.meta), meta::tag(now.meta),
                                                  target.table.tick())};
    }
    if (slot::take_back(slot, replacement, again)) {  // (S7)
      // What is dropped now is the new value's reference; the value itself is the caller's again.
      if (once) drop_reference(registry, keyval);
      return fail(code, callback_code);
    }
  }
  // Another call has held, deleted or replaced the new value, or it was deleted with the object. So
  // this set has succeeded.
  tell(code, callback_code);
  return ATTRCACHE_OK;
}

}  // namespace

void drop_reference(Registry& registry, id::Keyval keyval) { registry.drop(keyval); }

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

int set_attribute(const Target& target, id::Keyval keyval, uint64_t value, attrcache_tag tag,
                  int* callback_code, Held held) {
  Registry& registry = target.registry;
  Reference reference(registry, keyval, held);
  if (registry.look_up(keyval) == 0) [[unlikely]]
    return registry.why_not(keyval);
  Pair* slot = target.table.find(id::index(keyval));
  if (slot == nullptr) {
    // The table may grow only if the keyval is alive, which taking a reference ensures.
    if (reference.take() == 0) return ATTRCACHE_ERR_KEYVAL_STALE;
    slot = target.table.find_or_grow(id::index(keyval), target.registry.memory());
    if (slot == nullptr) return ATTRCACHE_ERR_MEMORY;
  }

  SlotContent now = slot->load();
  for (;;) {
    if (meta::empty(now.meta)) {
      const uint64_t entry = reference.take();
      if (entry == 0) return ATTRCACHE_ERR_KEYVAL_STALE;
      if (slot::attach(*slot, now, {value, attached_now(target, entry, keyval, tag)})) {  // (S1)
        reference.give();
        return ATTRCACHE_OK;
      }
      continue;
    }
    // The slot is occupied under another generation, so this keyval was gone before that one began.
    if (!meta::belongs(now.meta, keyval)) return ATTRCACHE_ERR_KEYVAL_STALE;
    if (meta::no_delete_fn(now.meta)) {
      const uint64_t replacement = slot::successor(target.table, now.meta, tag);
      if (slot::replace(*slot, now, {value, replacement})) return ATTRCACHE_OK;  // (S2)
      continue;
    }
    const uint64_t entry = reference.take();
    if (entry == 0) return ATTRCACHE_ERR_KEYVAL_STALE;
    const SlotContent replacement = {value, attached_now(target, entry, keyval, tag)};
    if (meta::deleting(now.meta)) {
      target.table.mark_replaced();
      if (slot::attach_over(*slot, now, replacement)) {  // (S11)
        reference.give();
        return ATTRCACHE_OK;
      }
      continue;
    }
    const int result =
        exchange_and_delete(target, *slot, now, replacement, keyval, reference, callback_code);
    if (result != kChanged) return result;
  }
}

int set_attribute_if_absent(const Target& target, id::Keyval keyval, uint64_t value,
                            attrcache_tag tag, void** present) {
  Registry& registry = target.registry;
  Reference reference(registry, keyval, Held::kNo);
  if (registry.look_up(keyval) == 0) [[unlikely]]
    return registry.why_not(keyval);
  Pair* slot = target.table.find(id::index(keyval));
  if (slot == nullptr) {
    if (reference.take() == 0) return ATTRCACHE_ERR_KEYVAL_STALE;  // as in set_attribute()
    slot = target.table.find_or_grow(id::index(keyval), registry.memory());
    if (slot == nullptr) return ATTRCACHE_ERR_MEMORY;
  }
  SlotContent now = slot->load();
  for (;;) {
    const bool empty = meta::empty(now.meta);
    if (!empty && !meta::belongs(now.meta, keyval)) return ATTRCACHE_ERR_KEYVAL_STALE;
    if (!empty && !meta::deleting(now.meta)) {
      if (present != nullptr)
        *present = seen_by_c(now.value, slot->value_address(), meta::tag(now.meta));
      return ATTRCACHE_PRESENT;
    }
    const uint64_t entry = reference.take();
    if (entry == 0) return ATTRCACHE_ERR_KEYVAL_STALE;
    const SlotContent made = {value, attached_now(target, entry, keyval, tag)};
    if (!empty) target.table.mark_replaced();
    const bool attached = empty ? slot::attach(*slot, now, made)        // (S1)
                                : slot::attach_over(*slot, now, made);  // (S11)
    if (!attached) continue;
    reference.give();
    return ATTRCACHE_OK;
  }
}

int delete_attribute(const Target& target, id::Keyval keyval, OnFailure on_failure,
                     int* callback_code) {
  Registry& registry = target.registry;
  if (registry.look_up(keyval) == 0) [[unlikely]]
    return registry.why_not(keyval);
  Pair* const found = target.table.find(id::index(keyval));
  if (found == nullptr) return ATTRCACHE_ABSENT;
  Pair& slot = *found;
  Deletion deletion(target, slot, keyval);
  slot::Claim claim;
  SlotContent now;
  for (;;) {
    now = slot.load();
    if (!meta::visible(now.meta) || !meta::belongs(now.meta, keyval)) return ATTRCACHE_ABSENT;
    if (meta::deleting(now.meta)) {
      if (slot::hide(slot, now.meta)) return ATTRCACHE_OK;  // (S10)
      continue;
    }
    uint64_t m = now.meta;
    if (meta::no_delete_fn(m)) {
      if (!slot::detach(slot, m)) continue;  // (S3)
      registry.drop(keyval);
      return ATTRCACHE_OK;
    }
    if (!deletion.prepare(now)) return ATTRCACHE_ERR_MEMORY;
    if (claim.take(slot, m)) break;  // (S8)
  }
  if (deletion.leave(&claim)) return ATTRCACHE_OK;
  TableScope scope(registry.threads().self(), &target.table, Frame::Use::kDeleting,
                   deletion.cell());
  int code;
  const bool gone = delete_claimed(target, scope, slot, claim, now, keyval, on_failure, &code);
  if (gone) drop_reference(registry, keyval);
  return code != 0 ? fail(code, callback_code) : ATTRCACHE_OK;
}

}  // namespace attrcache
