// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/attribute.h"

#include "table/get.h"
#include "table/get_predefined.h"
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
  Reference(Registry& registry, uint32_t keyval, Held held)
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
  const uint32_t keyval_;
  bool held_;
};

// Gives up this thread's own pins of the value in a slot, which are those of copy_fns up its stack.
// A copy_fn that deletes or replaces what it copies won't read it any more. If the pins were kept,
// and a copy_fn of another thread did the same, each would wait for the other's pin for ever.
bool give_up_pins(const ThreadState& thread, Pair& slot) {
  bool any = false;
  for_each_frame(thread, [&](Frame& f) {
    if (f.use != Frame::Use::kCopying || f.slot != &slot || f.unpinned || f.table_died) return;
    f.unpinned = true;
    slot::unpin(slot);
    any = true;
  });
  return any;
}

// Whether one of the pins on a slot's value belongs to this thread.
bool holds_pin(const ThreadState& thread, const Pair& slot) {
  bool holds = has_borrowed(thread, &slot);
  for_each_frame(thread, [&](const Frame& f) {
    if (f.use == Frame::Use::kCopying && f.slot == &slot && !f.unpinned && !f.table_died) {
      holds = true;
    }
  });
  return holds;
}

// Waits until nobody pins the value that this thread has claimed. By then another thread may have
// attached another value. A value that nobody pinned when it was claimed needs no wait, because no
// pins are added to a claimed value but by threads that hold one already.
void wait_for_pins(const Threads& threads, const ThreadState& thread, Pair& slot,
                   const slot::Claim& claim) {
  SlotWait wait;
  for (;;) {
    const uint64_t m = slot.load_meta();
    if (!claim.is(m) || !meta::pinned(m)) return;
    if (!give_up_pins(thread, slot)) threads.wait(wait, slot, m);
  }
}

// Whether `caller` may change attributes under the keyval that has this word.
bool may_change(uint64_t entry, Caller caller) {
  return caller == Caller::kRuntime || (entry & entry_word::kOrdinary) != 0;
}

// The meta of a value that is attached now under a keyval that has this word.
uint64_t attached_now(const Target& target, uint64_t entry, uint32_t keyval, attrcache_tag tag) {
  const uint32_t no_delete_fn = (entry & entry_word::kNoDeleteFn) != 0 ? meta::kNoDeleteFnHalf : 0;
  return meta::attached((keyval & stripe::kKeyval) | no_delete_fn, tag,
                        next_number(target.table, target.registry.memory()));
}

}  // namespace

void drop_reference(Registry& registry, uint32_t keyval) { registry.drop(keyval); }

bool is_deleting(const ThreadState& thread, const Pair& slot, uint64_t m) {
  bool deleting = false;
  for_each_frame(thread, [&](const Frame& f) {
    if (f.use == Frame::Use::kDeleting && f.slot == &slot && !f.table_died &&
        f.attachment == meta::sequence(m)) {
      deleting = true;
    }
  });
  return deleting;
}

int set_attribute(const Target& target, uint32_t keyval, uint64_t value, attrcache_tag tag,
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

  const Threads& threads = registry.threads();
  ThreadState& thread = threads.self();
  SlotWait wait;
  int rounds = 0;
  SlotContent now = slot->load();
  for (;;) {
    if (slot::vacant(now.meta)) {
      const uint64_t entry = reference.take();
      if (entry == 0) return ATTRCACHE_ERR_KEYVAL_STALE;
      if (!may_change(entry, caller)) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
      if (slot::attach(*slot, now,
                       {value, attached_now(target, entry, keyval, tag)})) {  // (S1, S7)
        reference.give();
        break;
      }
      continue;
    }
    // The slot is occupied under another generation, so this keyval was gone before that began.
    if (!meta::belongs(now.meta, keyval)) return ATTRCACHE_ERR_KEYVAL_STALE;
    if (meta::pinned(now.meta) && has_borrowed(thread, slot)) return ATTRCACHE_ERR_BORROWED;
    if (meta::deleting(now.meta)) {
      // Another thread has claimed the value and waits for its pins; so must this one.
      if (!give_up_pins(thread, *slot)) threads.wait(wait, *slot, now.meta);
      now = slot->load();
      continue;
    }
    // The attached value holds a reference. So if the next step succeeds, the word that is read
    // here was that of the value's keyval.
    const uint64_t entry = registry.look_up(keyval);
    if (entry != 0 && !may_change(entry, caller)) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
    if (meta::no_delete_fn(now.meta) && !meta::pinned(now.meta)) {
      uint64_t replacement = slot::successor(target.table, now.meta, tag);
      if (replacement == 0) {
        renumber(target.table, target.table.clock.load(kRelaxed), target.registry.memory());
        replacement = meta::attached(meta::upper(now.meta), tag,
                                     next_number(target.table, target.registry.memory()));
      }
      if (slot::replace_unclaimed(*slot, now, {value, replacement})) break;  // (S3)
      continue;
    }
    slot::Claim claim;
    if (uint64_t m = now.meta; !claim.take(*slot, m, slot::Claim::Of::kReplacingSet)) {  // (S2)
      now = slot->load();
      continue;
    }
    if (meta::pinned(now.meta)) wait_for_pins(threads, thread, *slot, claim);
    TableScope scope(thread, &target.table, Frame::Use::kDeleting);
    const int code = run_claimed(target, scope, *slot, now, keyval);
    if (scope.table_died()) {
      reference.adopt();
      return code != 0 ? fail(code, callback_code) : ATTRCACHE_ERR_BUSY;
    }
    if (code != 0) {
      if (!claim.restore()) reference.adopt();  // (S5)
      return fail(code, callback_code);
    }
    // The number is taken only now, so that a value which a callback has attached meanwhile counts
    // as the older one.
    const uint64_t replacement = meta::attached(
        meta::upper(claim.attached()), tag, next_number(target.table, target.registry.memory()));
    if (claim.replace({value, replacement})) break;  // (S8) the old reference passes on
    // Another value was attached meanwhile. Ours comes after that one, so start again.
    reference.adopt();
    if (scope.reattached() && ++rounds == kMaxRounds) return ATTRCACHE_ERR_REATTACHED;
    now = slot->load();
  }
  note_attached(thread.innermost, *slot);
  return ATTRCACHE_OK;
}

int delete_attribute(const Target& target, uint32_t keyval, Caller caller, OnFailure on_failure,
                     int* callback_code, DeleteFn delete_fn) {
  Registry& registry = target.registry;
  if (const uint64_t entry = registry.look_up(keyval); entry == 0) [[unlikely]] {
    return registry.why_not(keyval);
  } else if (!may_change(entry, caller)) {
    return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
  }
  Pair* slot = target.table.find(id::index(keyval));
  if (slot == nullptr) return ATTRCACHE_ABSENT;
  return delete_in_slot(target, *slot, keyval, caller, on_failure, callback_code, delete_fn);
}

int delete_in_slot(const Target& target, Pair& slot, uint32_t keyval, Caller caller,
                   OnFailure on_failure, int* callback_code, DeleteFn delete_fn) {
  Registry& registry = target.registry;
  const Threads& threads = registry.threads();
  ThreadState& thread = threads.self();
  const unsigned ordinal = thread_ordinal();
  slot::Claim claim;
  SlotContent now;
  for (;;) {
    now = slot.load();
    if (meta::empty(now.meta) || !meta::belongs(now.meta, keyval)) return ATTRCACHE_ABSENT;
    if (meta::pinned(now.meta) && has_borrowed(thread, &slot)) return ATTRCACHE_ERR_BORROWED;
    if (!meta::visible(now.meta)) return ATTRCACHE_ABSENT;
    uint64_t m = now.meta;
    if (meta::deleting(m)) {
      if (slot::hide(slot, m)) return ATTRCACHE_OK;  // (S6)
      continue;
    }
    // As in set, this is the word of the value's keyval if the next step succeeds.
    if (caller != Caller::kRuntime) {
      const uint64_t entry = registry.look_up(keyval);
      if (entry != 0 && !may_change(entry, caller)) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
    }
    if (meta::no_delete_fn(m) && !meta::pinned(m)) {
      if (!slot::detach_unclaimed(slot, m)) continue;  // (S4)
      registry.drop(keyval);
      return ATTRCACHE_OK;
    }
    if (claim.take(slot, m, slot::Claim::Of::kDelete)) break;  // (S2)
  }

  if (meta::pinned(now.meta)) wait_for_pins(threads, thread, slot, claim);
  int code;
  bool gone;
  {
    TableScope scope(thread, &target.table, Frame::Use::kDeleting);
    gone = delete_claimed(target, scope, slot, claim, now, keyval, on_failure, delete_fn, &code);
  }
  if (gone) drop_reference(registry, keyval, ordinal);
  return code != 0 ? fail(code, callback_code) : ATTRCACHE_OK;
}

int pin_value(const Registry& registry, Pair& slot, uint32_t keyval, uint64_t* pinned) {
  const Threads& threads = registry.threads();
  const ThreadState& thread = threads.self();
  SlotWait wait;
  bool waits = false;
  uint64_t m = slot.load_meta();
  for (;;) {
    if (waits) {
      const slot::Awaited awaited = slot::awaited(m);
      if (awaited == slot::Awaited::kPinned) break;
      if (awaited == slot::Awaited::kNotYet) {
        threads.wait(wait, slot, m);
        m = slot.load_meta();
      } else if (slot::leave(slot, m)) {  // (S12)
        return ATTRCACHE_ABSENT;
      }
      continue;
    }
    if (!meta::visible(m) || !meta::belongs(m, keyval)) return ATTRCACHE_ABSENT;
    const int holds = meta::holds(m);
    if (holds == meta::kMaxHolds || holds == -meta::kMaxHolds) return ATTRCACHE_ERR_PINNED;
    if (!meta::deleting(m) || (holds > 0 && holds_pin(thread, slot))) {
      if (slot::pin(slot, m)) break;  // (S10)
      continue;
    }
    if (!meta::replacing(m)) return ATTRCACHE_ABSENT;
    if (is_deleting(thread, slot, m)) return ATTRCACHE_ERR_DELETING;
    if (holds > 0) {
      threads.wait(wait, slot, m);  // until the claimer has seen the pins off
      m = slot.load_meta();
    } else {
      waits = slot::await(slot, m);  // (S11)
      if (waits) m = slot.load_meta();
    }
  }
  *pinned = slot.load_meta();
  if (meta::belongs(*pinned, keyval)) return ATTRCACHE_OK;
  // While this waited, the keyval ended, and a later keyval of the same index got the slot. So the
  // pin that was handed over is one of a value that wasn't asked for.
  slot::unpin(slot);
  return ATTRCACHE_ABSENT;
}

namespace {

// The seal of a Borrowed that holds a value. Other memory doesn't contain it by chance, and a copy
// of the Borrowed, at another address, would need another one.
uint64_t seal_of(const Borrowed* borrowed) {
  return reinterpret_cast<uintptr_t>(borrowed) ^ uint64_t { 0x9d3f6c1a52e8b74d };
}

// Whether `borrowed` holds a value that this thread has borrowed. Its memory may never have been
// initialized, so it is looked for by its address among the thread's latest borrows. If the thread
// has more of them, the seal decides.
bool in_use(const ThreadState& thread, const Borrowed* borrowed) {
  int looked_at = 0;
  for (const Borrow* b = thread.borrows; b != nullptr; b = b->next) {
    if (b == &borrowed->borrow) return true;
    if (++looked_at == 4) return borrowed->seal == seal_of(borrowed);
  }
  return false;
}

}  // namespace

// The same of the number of a predefined keyval. The caller has made sure that `borrowed` is free.
[[gnu::noinline, gnu::cold]] static int borrow_predefined(Registry& registry, Table& table,
                                                          uint32_t keyval, Borrowed* borrowed) {
  const int number = registry.number_of(keyval);
  const Definition* const definition = registry.definitions().find(number);
  if (definition != nullptr && definition->where == ATTRCACHE_PER_OBJECT) {
    return borrow_attribute(registry, table, definition->keyval, borrowed);
  }
  PredefinedValue value;
  const int result = get_predefined(registry, table, number, &value);
  if (result != ATTRCACHE_OK) return result;
  const auto [thread, identity] = registry.threads().caller();
  borrowed->value = value.in_c;
  borrowed->borrow.slot = nullptr;  // nothing to keep alive
  borrowed->registry = &registry;
  borrowed->thread = identity;
  borrowed->seal = seal_of(borrowed);
  enter_borrow(thread, borrowed->borrow);
  return ATTRCACHE_OK;
}

int borrow_attribute(Registry& registry, Table& table, uint32_t keyval, Borrowed* borrowed) {
  const auto [thread, identity] = registry.threads().caller();
  // Borrowing into a Borrowed still in use would lose its value and make the list cyclic.
  if (thread.borrows != nullptr && in_use(thread, borrowed)) [[unlikely]]
    return ATTRCACHE_ERR_ARGUMENT;
  Pair* const slot = id::well_formed(keyval) ? table.find(id::index(keyval)) : nullptr;
  uint64_t m = slot != nullptr ? slot->load_meta() : 0;
  // A value that is attached under the keyval's int shows that the keyval exists.
  if (slot == nullptr || !meta::pinnable_unclaimed(m, keyval) || !registry.is_kind_of(keyval) ||
      !slot::pin(*slot, m)) [[unlikely]] {  // (S10)
    if (registry.look_up(keyval) == 0) {
      return id::well_formed(keyval) ? registry.why_not(keyval)
                                     : borrow_predefined(registry, table, keyval, borrowed);
    }
    if (slot == nullptr) return ATTRCACHE_ABSENT;
    uint64_t pinned;  // so that `m` may live in a register
    const int result = pin_value(registry, *slot, keyval, &pinned);
    if (result != ATTRCACHE_OK) return result;
    m = pinned;
  }
  borrowed->value = seen_by_c(slot->value_address(), tag_of(m));
  borrowed->borrow.slot = slot;
  borrowed->registry = &registry;
  borrowed->thread = identity;
  borrowed->seal = seal_of(borrowed);
  enter_borrow(thread, borrowed->borrow);
  return ATTRCACHE_OK;
}

int give_back_attribute(Borrowed* borrowed) {
  // This fails for a copy of a Borrowed, too.
  if (borrowed->seal != seal_of(borrowed)) return ATTRCACHE_ERR_ARGUMENT;
  if (borrowed->thread != borrowed->registry->threads().caller().identity) {
    return ATTRCACHE_ERR_THREAD;
  }
  borrowed->seal = 0;
  leave_borrow(borrowed->borrow);
  // Null: a predefined value that is in no table, or one whose table was abandoned.
  if (auto* slot = static_cast<Pair*>(const_cast<void*>(borrowed->borrow.slot))) [[likely]] {
    slot::unpin(*slot);
  }
  return ATTRCACHE_OK;
}

}  // namespace attrcache
