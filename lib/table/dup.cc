// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Dup: copies what one object's table holds to another. Most objects' attributes are all copied as
// by DUP_FN: that needs no callback, so nobody can notice the order, and one pass over the slots
// does it. If that can't copy one of them, all are copied in the order in which they were set: each
// copy_fn finds what those before it have done. Nobody but the caller, and its callbacks, uses the
// new table, so its slots and its clock are changed by plain stores.

#include "table/batch.h"
#include "table/dup_free.h"
#include "table/hand_off.h"
#include "table/hold.h"
#include "table/meta.h"
#include "table/set.h"

namespace attrcache {
namespace {

// Whether a slot holds a value of a keyval that a dup must copy. A value whose deletion another
// thread has begun is not copied. One that this thread is deleting further up its stack (the dup is
// made within its delete_fn) is: it is attached until delete_fn has succeeded.
bool to_be_copied(const Target& from, const Pair& slot, id::Keyval keyval, uint64_t m) {
  if (!meta::visible(m) || !meta::belongs(m, keyval)) return false;
  return !meta::deleting(m) || is_deleting(from.registry.threads().self(), from.table, slot, m);
}

// Copies attributes all of which are copied as by DUP_FN or not at all, as their keyvals' stripes
// say. The new table has nothing yet. False: it has stopped at one of them, and Dup starts over.
[[gnu::always_inline]] inline bool copy_at_once(Registry& registry, Table& from, Table& to) {
  const unsigned ordinal = thread_ordinal();
  const auto stops = [&](uint32_t first, const Pair* run, uint32_t length)
      __attribute__((always_inline)) {
    References::Counter* const counters = registry.counters(id::offset_at(first), ordinal);
    if (counters == nullptr) [[unlikely]]
      return true;  // all are of another kind
    Pair* made = nullptr;
    uint32_t s = 0, copied = 0;
#pragma GCC unroll 8
    for (; s < length; ++s) {
      const uint64_t m = run[s].load_meta();
      if (meta::empty(m)) continue;
      const uint64_t word = counters[s].load(kRelaxed);  // only a guess
      const stripe::Name name = stripe::name_in(word);
      const uint32_t differs = meta::lower(m) ^ stripe::bits(name);
      // The stripe must be open and belong to the same keyval, which must be copied as by DUP_FN;
      // the value must be visible, unclaimed and never held, because its copy gets the same meta.
      constexpr uint32_t kDecides =
          meta::kSameAttribute | meta::kDeleting | meta::kUnheld | meta::kFull | stripe::kNotDupFn;
      if ((differs & kDecides) != 0) [[unlikely]] {
        if ((differs & kDecides) == stripe::kNotDupFn && stripe::has(name, stripe::kNullCopyFn))
          continue;
        break;
      }
      if (made == nullptr) {
        // No two runs have attributes of one index, so the new table has no slots for this one yet.
        made = first == 0 ? to.inline_slots : to.grow(first, registry.memory());
        if (made == nullptr) break;  // in order, there may be memory
      }
      if (!References::acquire_open(counters[s], word)) [[unlikely]]
        break;
      // The value is read after the reference was taken. Before that it could have been a value of
      // an earlier keyval that had the same int. If it is another one now, what is stored isn't a
      // copy, but has the reference, which Dup::start_over() drops.
      uint64_t value;
      const bool same = run[s].still(m, &value);
      made[s].store_unshared({value, m});
      ++copied;
      if (!same) [[unlikely]]
        break;
    }
    if (copied != 0) count_attribute(*made, id::offset_at(first), copied);
    return s != length;
  };
  const bool stopped = from.any_run(stops);
  // The loads of the slots acquire, so the clock is at least as high as their numbers. From now on
  // the new table doesn't count as new, so that a callback that frees it is noticed.
  to.clock.store(from.now(), kRelaxed);
  return !stopped;
}

// A dup in order, the oldest attributes first.
class Dup {
 public:
  Dup(const Target& from, const Target& to)
      : registry_(from.registry),
        from_(from),
        to_(to),
        old_frame_(registry_.threads().self(), &from.table, Frame::Use::kCopying),
        new_frame_(registry_.threads().self(), &to.table) {}
  ~Dup() {
    if (cell_ != nullptr) registry_.readers().release(*cell_);
  }
  Dup(const Dup&) = delete;
  Dup& operator=(const Dup&) = delete;

  // Gives up what was copied at once: callbacks, and destructors of keyvals that end here, must
  // find the new object as it was. False: one of the latter has freed one of the two.
  bool start_over() {
    Batch copies(to_.table, registry_.memory());
    while (!new_table_died() && copies.next()) {
      for (const Batch::Item& item : copies) {
        item.slot->clear_unshared();
        uncount_attribute(*item.slot, id::offset_at(item.index));
      }
      for (const Batch::Item& item : copies) registry_.drop(meta::keyval(item.meta, item.index));
    }
    return !table_died();
  }

  int run(int* callback_code) {
    if ((cell_ = registry_.readers().take()) == nullptr) return ATTRCACHE_ERR_MEMORY;
    Batch batch(from_.table, registry_.memory());
    while (batch.next()) {
      for (const Batch::Item& item : batch) {
        const int result = copy(item, callback_code);
        if (table_died()) return ATTRCACHE_ERR_FREED;
        if (result != ATTRCACHE_OK) return result;
      }
    }
    return ATTRCACHE_OK;
  }

  // Whether a callback has freed the new object.
  bool new_table_died() const { return new_frame_.table_died; }

 private:
  bool table_died() const { return old_frame_.table_died || new_table_died(); }
  // Ends the copying of an attribute without attaching a copy.
  int give_up(id::Keyval keyval, int result) {
    registry_.drop(keyval);
    return result;
  }

  // Attaches what was copied, and gives it the reference.
  [[gnu::always_inline]] inline int attach(Pair& made, id::Keyval keyval, stripe::Name like,
                                           uint64_t value, attrcache_tag tag, int* callback_code) {
    if (!meta::empty(made.load_meta())) [[unlikely]] {  // a callback has attached something
      return give_up(keyval, continue_set(registry_, to_.table, to_.object, {keyval, tag}, value,
                                          callback_code));
    }
    count_attribute(made, id::offset(keyval));
    made.store_unshared({value, meta::attached(like, tag, to_.table.tick_unshared())});
    return ATTRCACHE_OK;
  }

  int copy(const Batch::Item& item, int* callback_code) {
    const id::Keyval keyval = meta::keyval(item.meta, item.index);
    // The copy's own reference is taken first, as above: what is found under the keyval's int from
    // now on is this keyval's, and copy_fn may delete the original.
    const stripe::Name like = take(registry_, keyval);
    if (like == stripe::Name::kNone) [[unlikely]] {
      // Of this kind, the keyval is gone, and the attribute was deleted meanwhile.
      return registry_.is_kind_of(keyval) ? ATTRCACHE_OK : ATTRCACHE_ERR_KEYVAL_KIND;
    }
    if (stripe::has(like, stripe::kNullCopyFn)) return give_up(keyval, ATTRCACHE_OK);
    // The new slot is made first, because what copy_fn makes couldn't be undone if there were no
    // memory then.
    Pair* made = find_slot(to_.table, keyval);
    if (made == nullptr) made = to_.table.grow(item.index, registry_.memory());
    if (made == nullptr) [[unlikely]]
      return give_up(keyval, ATTRCACHE_ERR_MEMORY);
    return stripe::has(like, stripe::kNotDupFn)
               ? call(*item.slot, *made, keyval, like, callback_code)
               : duplicate(*item.slot, *made, keyval, like, callback_code);
  }

  // Copies as DUP_FN does, without a call.
  int duplicate(const Pair& slot, Pair& made, id::Keyval keyval, stripe::Name like,
                int* callback_code) {
    const SlotContent found = slot.load();
    if (!to_be_copied(from_, slot, keyval, found.meta)) return give_up(keyval, ATTRCACHE_OK);
    return attach(made, keyval, like, found.value, meta::tag(found.meta), callback_code);
  }

  // Runs copy_fn, with the value held.
  int call(Pair& slot, Pair& made, id::Keyval keyval, stripe::Name like, int* callback_code) {
    SlotContent found;
    bool held;
    if (!hold_or_find_own(slot, keyval, &found, &held)) [[unlikely]]
      return give_up(keyval, table_died() ? ATTRCACHE_ERR_FREED : ATTRCACHE_OK);
    old_frame_.slot = &slot;
    old_frame_.announced = held ? cell_ : nullptr;
    const Copied copied =
        run_copy(registry_.callbacks(keyval), registry_.convention(), from_.object,
                 registry_.number_of(keyval), found.value, meta::tag(found.meta));
    old_frame_.slot = nullptr;
    if (old_frame_.announced != nullptr) let_go(registry_.readers(), slot, *cell_, true);
    if (copied.code != 0) [[unlikely]] {
      *callback_code = copied.code;
      return give_up(keyval, ATTRCACHE_ERR_CALLBACK);
    }
    if (!copied.flag) return give_up(keyval, ATTRCACHE_OK);
    if (!is_tag(copied.tag)) [[unlikely]]
      return give_up(keyval, ATTRCACHE_ERR_ARGUMENT);
    if (new_frame_.table_died) [[unlikely]]
      return give_up(keyval, ATTRCACHE_ERR_FREED);
    return attach(made, keyval, like, copied.value, copied.tag, callback_code);
  }

  // Holds the value, or finds the one that this thread is deleting further up its stack. That need
  // not be held, since its deletion can't end before the copy. False: there is neither, or a
  // deletion that was handed off to this thread has freed one of the objects.
  bool hold_or_find_own(Pair& slot, id::Keyval keyval, SlotContent* found, bool* held) {
    for (;;) {
      found->meta = slot.load_meta();
      *held = meta::holdable(found->meta, keyval);
      if (*held) {
        if (hold_found(slot, found->meta, Says::kCopies, *cell_, &found->value)) return true;
        let_go(registry_.readers(), slot, *cell_, false);  // the attempt has looked like a holder
        if (table_died()) return false;
        continue;
      }
      *found = slot.load();
      if (!to_be_copied(from_, slot, keyval, found->meta)) return false;
      if (meta::deleting(found->meta)) return true;  // by this thread
      // Meanwhile a value was attached, or a claim was restored.
    }
  }

  Registry& registry_;
  const Target& from_;
  const Target& to_;
  Frame old_frame_;
  Frame new_frame_;
  // The cell in which each copy is announced in turn.
  Announcement* cell_ = nullptr;
};

// `tried`: copy_at_once() has stopped.
[[gnu::noinline]] int copy_in_order(const Target& from, const Target& to, bool tried,
                                    int* callback_code) {
  int code = 0, result = ATTRCACHE_ERR_FREED;
  bool died;
  {
    Dup dup(from, to);
    if (!tried || dup.start_over()) result = dup.run(&code);
    died = dup.new_table_died();
  }
  if (result != ATTRCACHE_OK && !died) delete_attributes(to, kUndo, nullptr);
  if (result == ATTRCACHE_ERR_CALLBACK) tell(code, callback_code);
  return result;
}

}  // namespace

int copy_attributes(const Target& from, const Target& to, int* callback_code) {
  if (!from.table.owns_its_memory() || !to.table.owns_its_memory()) return ATTRCACHE_ERR_MOVED;
  const bool as_new = to.table.is_as_new();
  if (!as_new || !copy_at_once(from.registry, from.table, to.table)) {
    const int result = copy_in_order(from, to, as_new, callback_code);
    if (result != ATTRCACHE_OK || !as_new) return result;
  }
  // If nothing was copied, the new table is as it was, unless a callback handed off a deletion.
  if (meta::empty(to.table.inline_slots[0].load_meta()) && !to.table.marked() &&
      what_is_left(from.registry.readers(), to.table) == ATTRCACHE_OK)
    to.table.clear(from.registry.memory());
  return ATTRCACHE_OK;
}

}  // namespace attrcache
