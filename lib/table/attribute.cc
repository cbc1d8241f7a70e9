// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/attribute.h"

#include "table/claimed.h"
#include "table/hold.h"
#include "table/meta.h"
#include "table/renumber.h"

namespace attrcache {
namespace {

// How often callbacks may attach again the attribute that a set is replacing, before it gives up.
constexpr int kMaxRounds = 16;

// A reference on a keyval. It is dropped at the end of the scope, unless it was given to a value
// that was attached.
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
  // Takes over the reference of a value that the caller owns now.
  void adopt() {
    if (held_) drop_reference(registry_, keyval_);  // one is enough, and so this isn't the last
    held_ = true;
  }
  void give() { held_ = false; }

 private:
  Registry& registry_;
  const id::Keyval keyval_;
  bool held_;
};

// Announces that this thread is within a replacing set, while the set lasts.
class ReplacingScope {
 public:
  explicit ReplacingScope(Readers& readers) : readers_(readers) {}
  ~ReplacingScope() {
    if (cell_ != nullptr) readers_.release(*cell_);
  }
  ReplacingScope(const ReplacingScope&) = delete;
  ReplacingScope& operator=(const ReplacingScope&) = delete;

  // To be called before the claim (S2), so that whoever finds that finds this. False: out of
  // memory.
  bool announce(const Pair& slot, uint64_t m) {
    if (cell_ == nullptr && (cell_ = readers_.take()) == nullptr) return false;
    readers_.announce(*cell_, slot, Says::kReplaces, m);
    return true;
  }

 private:
  Readers& readers_;
  Announcement* cell_ = nullptr;
};

// Whether `caller` may change attributes under the keyval that has this word.
bool may_change(uint64_t entry, Caller caller) {
  return caller == Caller::kRuntime || (entry & entry_word::kOrdinary) != 0;
}

// The meta of a value that is attached now under a keyval that has this word.
uint64_t attached_now(const Target& target, uint64_t entry, id::Keyval keyval, attrcache_tag tag) {
  const uint32_t no_delete_fn = (entry & entry_word::kNoDeleteFn) != 0 ? meta::kNoDeleteFnHalf : 0;
  return meta::attached(stripe::name(keyval, no_delete_fn), tag,
                        next_number(target.table, target.registry.memory()));
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
                  Caller caller, int* callback_code, Held held) {
  Registry& registry = target.registry;
  Reference reference(registry, keyval, held);
  if (const uint64_t entry = registry.look_up(keyval); entry == 0) [[unlikely]] {
    return registry.why_not(keyval);
  } else if (!may_change(entry, caller)) {
    return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
  }
  Pair* slot = target.table.find(id::index(keyval));
  if (slot == nullptr) {
    // The table may grow only if the keyval is alive, which taking a reference makes sure of.
    if (reference.take() == 0) return ATTRCACHE_ERR_KEYVAL_STALE;
    slot = target.table.find_or_grow(id::index(keyval), target.registry.memory());
    if (slot == nullptr) return ATTRCACHE_ERR_MEMORY;
  }

  Readers& readers = registry.readers();
  ThreadState& thread = registry.threads().self();
  ReplacingScope replaces(readers);
  int rounds = 0;
  SlotContent now = slot->load();
  for (;;) {
    if (meta::empty(now.meta)) {
      const uint64_t entry = reference.take();
      if (entry == 0) return ATTRCACHE_ERR_KEYVAL_STALE;
      if (!may_change(entry, caller)) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
      if (slot::attach(*slot, now, {value, attached_now(target, entry, keyval, tag)})) {  // (S1)
        reference.give();
        break;
      }
      continue;
    }
    // The slot is occupied under another generation, so this keyval was gone before that began.
    if (!meta::belongs(now.meta, keyval)) return ATTRCACHE_ERR_KEYVAL_STALE;
    if (has_borrowed(readers, *slot, now.meta)) return ATTRCACHE_ERR_BORROWED;
    if (meta::deleting(now.meta)) {
      if (meta::read(now.meta)) {
        // Its claimer waits for those who hold it. A value that C reads at its address, in the
        // slot, stays there as long as somebody copies it, unless that would never end.
        const bool at_address = !meta::has_tag(now.meta, ATTRCACHE_AS_POINTER);
        const int result = see_others_off(target, *slot, keyval, now, at_address);
        if (result != ATTRCACHE_OK) return result;
      }
      const uint64_t entry = reference.take();
      if (entry == 0) return ATTRCACHE_ERR_KEYVAL_STALE;
      if (!may_change(entry, caller)) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
      SlotContent over = slot->load();
      if (((over.meta ^ now.meta) & meta::kClaim) == 0 &&
          slot::attach_over(*slot, over, {value, attached_now(target, entry, keyval, tag)},
                            readers)) {  // (S7)
        reference.give();
        break;
      }
      now = over;
      continue;
    }
    // The attached value holds a reference. So if the next step succeeds, the word that is read
    // here was that of the value's keyval.
    const uint64_t entry = registry.look_up(keyval);
    if (entry != 0 && !may_change(entry, caller)) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
    if (meta::no_delete_fn(now.meta) && !meta::read(now.meta)) {
      uint64_t replacement = slot::successor(target.table, now.meta, tag);
      if (replacement == 0) {
        renumber(target.table, target.table.clock.load(kRelaxed), target.registry.memory());
        replacement = meta::attached(meta::like(now.meta), tag,
                                     next_number(target.table, target.registry.memory()));
      }
      if (slot::replace_unclaimed(*slot, now, {value, replacement})) break;  // (S3)
      continue;
    }
    if (!replaces.announce(*slot, now.meta)) return ATTRCACHE_ERR_MEMORY;
    slot::Claim claim(readers);
    if (uint64_t m = now.meta; !claim.take(*slot, m, slot::Claim::Of::kReplacingSet)) {  // (S2)
      now = slot->load();
      continue;
    }
    if (meta::read(now.meta)) {
      FenceOnce fence(FenceOnce::Of::kValue);
      Holder copier;
      const SeenOff seen_off = see_off(target, *slot, keyval, claim, now, fence, &copier);
      if (seen_off == SeenOff::kDeadlock) return ATTRCACHE_ERR_DEADLOCK;
      if (seen_off == SeenOff::kLeft) {
        // The old value keeps its own reference, which goes to the copier.
        reference.take();
        const bool replaced = claim.replace(
            {value, meta::attached(meta::like(claim.attached()), tag,
                                   next_number(target.table, target.registry.memory()))});  // (S8)
        leave(readers, copier, *slot, now.value);
        if (replaced) {
          reference.give();
          break;
        }
        now = slot->load();
        continue;
      }
    }
    TableScope scope(thread, &target.table, Frame::Use::kDeleting);
    const int code = run_claimed(target, scope, *slot, now, keyval);
    if (scope.table_died()) {
      reference.adopt();
      return code != 0 ? fail(code, callback_code) : ATTRCACHE_ERR_BUSY;
    }
    if (code != 0) {
      const bool gone = deletes_once(registry, keyval);
      if (gone) claim.detach();                         // (S9)
      if (gone || !claim.restore()) reference.adopt();  // (S5)
      return fail(code, callback_code);
    }
    // The number is taken only now, so that a value which a callback has attached meanwhile counts
    // as the older one.
    const uint64_t replacement = meta::attached(
        meta::like(claim.attached()), tag, next_number(target.table, target.registry.memory()));
    if (claim.replace({value, replacement})) break;  // (S8) the old reference passes on
    // Another value was attached meanwhile. Ours comes after that one, so start again.
    reference.adopt();
    if (scope.reattached() && ++rounds == kMaxRounds) return ATTRCACHE_ERR_REATTACHED;
    now = slot->load();
  }
  note_attached(thread.innermost, target.table, *slot);
  return ATTRCACHE_OK;
}

int delete_attribute(const Target& target, id::Keyval keyval, Caller caller, OnFailure on_failure,
                     int* callback_code) {
  Registry& registry = target.registry;
  if (const uint64_t entry = registry.look_up(keyval); entry == 0) [[unlikely]] {
    return registry.why_not(keyval);
  } else if (!may_change(entry, caller)) {
    return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
  }
  Pair* slot = target.table.find(id::index(keyval));
  if (slot == nullptr) return ATTRCACHE_ABSENT;
  FenceOnce fence(FenceOnce::Of::kValue);
  return delete_found(target, *slot, keyval, caller, on_failure, callback_code, fence);
}

int delete_found(const Target& target, Pair& slot, id::Keyval keyval, Caller caller,
                 OnFailure on_failure, int* callback_code, FenceOnce& fence, DeleteFn delete_fn) {
  Registry& registry = target.registry;
  Readers& readers = registry.readers();
  ThreadState& thread = registry.threads().self();
  const unsigned ordinal = thread_ordinal();
  slot::Claim claim(readers);
  SlotContent now;
  for (;;) {
    now = slot.load();
    if (meta::empty(now.meta) || !meta::belongs(now.meta, keyval)) return ATTRCACHE_ABSENT;
    if (has_borrowed(readers, slot, now.meta)) return ATTRCACHE_ERR_BORROWED;
    if (!meta::visible(now.meta)) return ATTRCACHE_ABSENT;
    uint64_t m = now.meta;
    if (meta::deleting(m)) {
      if (meta::read(m)) {
        const int result = see_others_off(target, slot, keyval, now, false);
        if (result != ATTRCACHE_OK) return result;
        m = slot.load_meta();
        if (((m ^ now.meta) & (meta::kClaim | meta::kVisible)) != 0) continue;
      }
      if (slot::hide(slot, m, registry.threads())) return ATTRCACHE_OK;  // (S6)
      continue;
    }
    // As in set, this is the word of the value's keyval if the next step succeeds.
    if (caller != Caller::kRuntime) {
      const uint64_t entry = registry.look_up(keyval);
      if (entry != 0 && !may_change(entry, caller)) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
    }
    if (meta::no_delete_fn(m) && !meta::read(m)) {
      if (!slot::detach_unclaimed(slot, m)) continue;  // (S4)
      registry.drop(keyval);
      return ATTRCACHE_OK;
    }
    if (claim.take(slot, m, slot::Claim::Of::kDelete)) break;  // (S2)
  }

  if (meta::read(now.meta)) {
    Holder copier;
    const SeenOff seen_off = see_off(target, slot, keyval, claim, now, fence, &copier);
    if (seen_off == SeenOff::kDeadlock) return ATTRCACHE_ERR_DEADLOCK;
    if (seen_off == SeenOff::kLeft) {
      claim.detach();  // (S9)
      leave(readers, copier, slot, now.value);
      return ATTRCACHE_OK;
    }
  }
  int code;
  bool gone;
  {
    TableScope scope(thread, &target.table, Frame::Use::kDeleting);
    gone = delete_claimed(target, scope, slot, claim, now, keyval, on_failure, delete_fn, &code);
  }
  if (gone) drop_reference(registry, keyval, ordinal);
  return code != 0 ? fail(code, callback_code) : ATTRCACHE_OK;
}

}  // namespace attrcache
