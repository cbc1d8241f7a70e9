// SPDX-License-Identifier: Apache-2.0

#include "table/attribute.h"

#include "table/get.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// How often callbacks may attach again what a set is replacing.
constexpr int kMaxRounds = 16;

// A reference on a keyval, dropped at the end unless it was given to an attached value.
class Reference {
 public:
  Reference(Registry& registry, uint32_t keyval) : registry_(registry), keyval_(keyval) {}
  ~Reference() {
    if (held_) registry_.drop(keyval_);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  bool take() {
    if (!held_) held_ = registry_.acquire(keyval_);
    return held_;
  }
  // The reference of a value that the caller owns now.
  void adopt() {
    if (held_) registry_.drop(keyval_);  // one is enough, and this isn't the last
    held_ = true;
  }
  void give() { held_ = false; }

 private:
  Registry& registry_;
  const uint32_t keyval_;
  bool held_ = false;
};

// Makes way for a claim of the value pinned in `slot`. OK: look again.
int wait_for_pins(Pair& slot, uint64_t meta, Backoff& backoff) {
  const auto holds = [&slot, meta](const Frame& f) {
    return f.slot == &slot && f.attachment == meta::sequence(meta) && !f.table_died;
  };
  Frame* const innermost = this_thread().innermost;
  for (const Frame* f = innermost; f != nullptr; f = f->outer) {
    if (f->use == Frame::Use::kBorrowing && holds(*f)) return ATTRCACHE_ERR_BORROWED;
  }
  bool gave_up = false;
  for (Frame* f = innermost; f != nullptr; f = f->outer) {
    if (f->use != Frame::Use::kCopying || f->unpinned || !holds(*f)) continue;
    // A copy_fn that deletes what it copies has done with reading it. If another thread's does the
    // same, each would wait for the other's pin, were they kept.
    f->unpinned = true;
    unpin_value(slot);
    gave_up = true;
  }
  if (!gave_up) backoff.relax();
  return ATTRCACHE_OK;
}

// Tells this thread's deletions up the stack that their slot has a new value.
void note_attached(const Pair& slot) {
  for (Frame* f = this_thread().innermost; f != nullptr; f = f->outer) {
    if (f->slot == &slot) f->reattached = true;
  }
}

// Runs delete_fn on a value that the caller has claimed; `meta` is what it claimed.
int run_claimed(const Target& target, uint32_t keyval, const Pair& slot, Word claimed,
                Frame& frame) {
  frame.table = &target.table;
  frame.slot = &slot;
  frame.attachment = meta::sequence(claimed.meta);
  frame.use = Frame::Use::kDeleting;
  // A copy: a set by another thread may overwrite the slot while delete_fn reads the value there.
  const uint64_t value = claimed.value;
  enter_frame(frame);
  const int code =
      run_delete(target.registry.hooks(keyval),
                 {target.object, static_cast<int>(keyval), &value, meta::tag(claimed.meta)});
  leave_frame(frame);
  return code;
}

// (S9) Empties the slot if it still holds the claimed value, hidden or not; if not, somebody has
// attached another one already.
void detach_claimed(Pair& slot, uint64_t meta) {
  uint64_t now = meta | meta::kDeleting;
  while (!slot.swap_meta(now, 0)) {
    if ((now | meta::kVisible) != (meta | meta::kDeleting)) return;
  }
}

// After a failed delete_fn. True: (S5) the value is attached again.
bool restore_claimed(Pair& slot, uint64_t meta) {
  uint64_t now = meta | meta::kDeleting;
  if (slot.swap_meta(now, meta)) return true;
  detach_claimed(slot, meta);  // hidden: another thread's delete has already said that it is gone
  return false;
}

int fail(int code, int* callback_code) {
  if (callback_code != nullptr) *callback_code = code;
  return ATTRCACHE_ERR_CALLBACK;
}

// The word of a keyval that exists and that `caller` may change; 0: *error says why not.
uint64_t writable(const Registry& registry, uint32_t keyval, Caller caller, int* error) {
  const uint64_t word = registry.look_up(keyval);
  if (word == 0) [[unlikely]] {
    *error = registry.why_not(keyval);
    return 0;
  }
  if ((word & entry_word::kOrdinary) == 0 && caller == Caller::kUser) [[unlikely]] {
    *error = ATTRCACHE_ERR_KEYVAL_PREDEFINED;
    return 0;
  }
  return word;
}

// Predefined keyvals have no callbacks at all.
bool has_no_delete_fn(uint64_t entry) {
  return (entry & entry_word::kQuick) != 0 || (entry & entry_word::kOrdinary) == 0;
}

}  // namespace

int set_attribute(const Target& target, uint32_t keyval, uint64_t value, attrcache_tag tag,
                  Caller caller, int* callback_code) {
  Registry& registry = target.registry;
  int error;
  const uint64_t entry = writable(registry, keyval, caller, &error);
  if (entry == 0) return error;

  Reference reference(registry, keyval);
  Pair* slot = target.table.find(id::index(keyval));
  if (slot == nullptr) {
    // Only for a keyval that really is alive does the table grow.
    if (!reference.take()) return ATTRCACHE_ERR_KEYVAL_STALE;
    slot = target.table.find_or_grow(id::index(keyval));
    if (slot == nullptr) return ATTRCACHE_ERR_MEMORY;
  }

  const uint32_t like =
      (keyval & stripe::kKeyval) | ((entry & entry_word::kQuick) != 0 ? meta::kQuickHalf : 0);
  const auto attached = [&]() -> Word {
    return {value, meta::attached(like, tag, target.table.tick())};
  };
  const bool plain = has_no_delete_fn(entry);
  Backoff backoff;
  int rounds = 0;
  Word now = slot->load();
  for (;;) {
    if (meta::empty(now.meta) || meta::deleting(now.meta)) {
      if (!reference.take()) return ATTRCACHE_ERR_KEYVAL_STALE;
      if (slot->swap(now, attached())) {  // (S1), (S7)
        reference.give();
        break;
      }
      continue;
    }
    // Attached under another generation: this one was gone before that began.
    if (!meta::belongs(now.meta, keyval)) return ATTRCACHE_ERR_KEYVAL_STALE;
    if (meta::pins(now.meta) != 0) {
      error = wait_for_pins(*slot, now.meta, backoff);
      if (error != ATTRCACHE_OK) return error;
      now = slot->load();
      continue;
    }
    if (plain) {
      if (slot->swap(now, {value, successor(target.table, now.meta, tag)}))
        break;  // (S3) the old value's reference passes on to the new one
      continue;
    }
    uint64_t expected = now.meta;
    if (!slot->swap_meta(expected, now.meta | meta::kDeleting)) {  // (S2)
      now = slot->load();
      continue;
    }
    Frame frame = {};
    const int code = run_claimed(target, keyval, *slot, now, frame);
    if (frame.table_died) {
      reference.adopt();
      return code != 0 ? fail(code, callback_code) : ATTRCACHE_ERR_BUSY;
    }
    if (code != 0) {
      if (!restore_claimed(*slot, now.meta)) reference.adopt();
      return fail(code, callback_code);
    }
    // The number of a value attached by a callback meanwhile must not exceed ours.
    const Word desired = attached();
    Word claimed = {now.value, now.meta | meta::kDeleting};
    bool replaced = slot->swap(claimed, desired);  // (S8)
    if (!replaced && (claimed.meta | meta::kVisible) == (now.meta | meta::kDeleting)) {
      replaced = slot->swap(claimed, desired);  // hidden meanwhile
    }
    if (replaced) break;  // the old value's reference passes on
    // Somebody attached another value. Ours comes after it: start again.
    reference.adopt();
    if (frame.reattached && ++rounds == kMaxRounds) return ATTRCACHE_ERR_REATTACHED;
    now = claimed;
  }
  note_attached(*slot);
  return ATTRCACHE_OK;
}

int delete_attribute(const Target& target, uint32_t keyval, Caller caller, OnFailure on_failure,
                     int* callback_code) {
  Registry& registry = target.registry;
  int error;
  const uint64_t entry = writable(registry, keyval, caller, &error);
  if (entry == 0) return error;
  Pair* slot = target.table.find(id::index(keyval));
  if (slot == nullptr) return ATTRCACHE_OK;

  const bool plain = has_no_delete_fn(entry);
  Backoff backoff;
  Word now = slot->load();
  for (;;) {
    if (meta::empty(now.meta) || !meta::belongs(now.meta, keyval)) return ATTRCACHE_OK;
    if (meta::deleting(now.meta)) {
      if (!meta::visible(now.meta)) return ATTRCACHE_OK;
      uint64_t expected = now.meta;
      if (slot->swap_meta(expected, now.meta & ~meta::kVisible)) return ATTRCACHE_OK;  // (S6)
    } else if (meta::pins(now.meta) != 0) {
      error = wait_for_pins(*slot, now.meta, backoff);
      if (error != ATTRCACHE_OK) return error;
    } else {
      uint64_t expected = now.meta;
      if (slot->swap_meta(expected, plain ? 0 : now.meta | meta::kDeleting)) {  // (S4), (S2)
        if (plain) {
          registry.drop(keyval);
          return ATTRCACHE_OK;
        }
        break;
      }
    }
    now = slot->load();
  }

  Frame frame = {};
  const int code = run_claimed(target, keyval, *slot, now, frame);
  if (!frame.table_died) {
    if (code != 0 && on_failure == OnFailure::kKeep) {
      if (restore_claimed(*slot, now.meta)) return fail(code, callback_code);
    } else {
      detach_claimed(*slot, now.meta);
    }
  }
  registry.drop(keyval);
  return code != 0 ? fail(code, callback_code) : ATTRCACHE_OK;
}

int pin_value(Pair& slot, uint32_t keyval, Word* word) {
  uint64_t m = slot.load_meta();
  do {
    if (!meta::visible(m) || meta::deleting(m) || !meta::belongs(m, keyval)) {
      return ATTRCACHE_ABSENT;
    }
    if (meta::pins(m) == meta::kMaxPins) return ATTRCACHE_ERR_PINNED;
  } while (!slot.swap_meta(m, m + meta::kPin));  // (S10)
  *word = slot.load();  // only now: a value may be replaced under the same meta, but not pinned
  return ATTRCACHE_OK;
}

// While it is pinned, nothing but pins can change in the slot.
void unpin_value(Pair& slot) { slot.add_meta(uint64_t{0} - meta::kPin); }

namespace {
constexpr uint32_t kIsBorrowed = 0x62776564;  // tells a borrow from memory that never was one
}

int borrow_attribute(Registry& registry, Table& table, uint32_t keyval, Borrowed* borrowed) {
  // Once more into what still holds a value would lose that, and make a ring of the frames. Found
  // by the chain: the memory may never have been initialized.
  if (is_in_frame(borrowed->frame)) [[unlikely]]
    return ATTRCACHE_ERR_ARGUMENT;
  if (registry.look_up(keyval) == 0) [[unlikely]]
    return registry.why_not(keyval);
  Pair* slot = table.find(id::index(keyval));
  Word word;
  const int result = slot != nullptr ? pin_value(*slot, keyval, &word) : ATTRCACHE_ABSENT;
  if (result != ATTRCACHE_OK) return result;
  const attrcache_tag tag = meta::tag(word.meta);
  borrowed->value = tag == ATTRCACHE_AS_POINTER ? reinterpret_cast<void*>(word.value)
                                                : const_cast<uint64_t*>(slot->value_address());
  borrowed->frame = {};
  borrowed->frame.table = &table;
  borrowed->frame.slot = slot;
  borrowed->frame.attachment = meta::sequence(word.meta);
  borrowed->frame.use = Frame::Use::kBorrowing;
  borrowed->thread = thread_ordinal();
  borrowed->state = kIsBorrowed;
  enter_frame(borrowed->frame);
  return ATTRCACHE_OK;
}

int give_back_attribute(Borrowed* borrowed) {
  if (borrowed->state != kIsBorrowed) return ATTRCACHE_ERR_ARGUMENT;
  if (borrowed->thread != thread_ordinal()) return ATTRCACHE_ERR_THREAD;
  // Of a copy of what was borrowed, never.
  if (!leave_frame(borrowed->frame)) [[unlikely]]
    return ATTRCACHE_ERR_ARGUMENT;
  borrowed->state = 0;
  unpin_value(*static_cast<Pair*>(const_cast<void*>(borrowed->frame.slot)));
  return ATTRCACHE_OK;
}

}  // namespace attrcache
