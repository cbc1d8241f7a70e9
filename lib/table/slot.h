// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The steps of the slot protocol, each in one place: every change that is ever made to a slot which
// others can see. Who takes which step when is in attribute.cc (set, delete, borrow), dup_free.cc (dup
// and free) and, for the common cases, c_api/one_attribute.cc and dup_free_fast.h.
//
// The states of a slot, and the steps between them. The number in brackets counts the pins
// (copies and borrows under way), or the pinners that wait:
//
//   EMPTY         S1 attach -> ATTACHED(0)
//   ATTACHED(p)   S2 claim -> CLAIMED(p), by a delete or a replacing set; from now on no other
//                    thread pins the value
//                 S3 replace -> ATTACHED(0); S4 detach -> EMPTY: where nobody has
//                    to be called, and p is 0
//                 S10 pin -> ATTACHED(p + 1); unpin -> ATTACHED(p - 1)
//   CLAIMED(p)    p > 0: the claimer waits for these pins.  unpin -> CLAIMED(p - 1)
//                    S10 pin -> CLAIMED(p + 1), by a thread that holds one of them
//                 p = 0: the claimer runs delete_fn, if there is one, and then takes S5, S8 or S9
//                 p < 0: the same, and -p pinners wait for its end; only of a replacing set
//                    S11 await -> CLAIMED(p - 1)
//                 S5 restore -> ATTACHED(-p): delete_fn has failed, the value stays attached
//                 S6 hide    -> hidden CLAIMED(p): deleted by another thread as well: get no
//                    longer sees it, and it won't be restored
//                 S7 attach, by anybody else's set, if p <= 0 -> ATTACHED(-p); the claimer notices
//                 S8 replace, by the claimer -> ATTACHED(-p)
//                 S9 detach, by the claimer -> EMPTY; if pinners wait -> GONE(-p)
//   GONE(w)       a hidden CLAIMED(-w) that is part of no replacing set, without a claimer: w
//                 pinners are to learn that there is nothing.  S7 as above;
//                 S12 leave -> GONE(w - 1), the last -> EMPTY
//
// Whoever claims a value (S2) owns it: it alone runs delete_fn, and then holds the value's reference
// on the keyval. Whoever replaces or detaches a value that has no delete_fn (S3, S4) owns it in one
// step.
//
// Nobody starves. Whoever claims waits for the pins that were there, and for those that their
// threads add: all others are kept off by the claim. And a pinner that waits for a replacing set is
// handed its pin by whatever ends the set (S5, S7, S8), so it need not find the slot unclaimed by
// chance. That is why the number of waiters is never lost: it is part of the slot until each of them
// has seen its own end of it.
//
// What a reader of a slot may assume. It reads value and meta as of one instant (Pair). The meta says
// under which keyval and how the value was set; an attached or claimed value holds a reference on its
// keyval, so that has not gone. A meta that is unchanged since it was read proves that the slot was
// not emptied, claimed or attached to since; its value may have been replaced by S3 under a keyval
// without delete_fn. That is harmless: who deletes takes what is there, and who pins reads the value
// only afterwards. A value without a pin may be deleted at any moment after the reading.
//
// Linearization: set takes effect at S1, S3, S7 or S8; delete at S4, S6 or S9, or at the load that
// finds nothing; get at its load of the slot; borrow and copy at S10, or at the step that hands
// over their pin.
//
// Memory orders are Pair's: every step acquires and releases, and acquires when it fails. So whoever
// sees a value attached sees what was written before it was set, and whoever ends a claim sees
// what those did who held the value.

#ifndef ATTRCACHE_TABLE_SLOT_H_
#define ATTRCACHE_TABLE_SLOT_H_

#include <cstdint>

#include "callback/language.h"
#include "platform/pair.h"
#include "platform/wait.h"
#include "table/meta.h"
#include "table/table.h"

namespace attrcache::slot {

// ---- Attaching ----

// Nobody's value is in the way: empty, or one that is being deleted and no longer pinned.
constexpr bool vacant(uint64_t m) {
  return meta::empty(m) || (meta::deleting(m) && !meta::pinned(m));
}

// (S1, S7) Attaches to a vacant slot that was found to hold `now`, which is updated on failure.
inline bool attach(Pair& slot, SlotContent& now, SlotContent attached) {
  const int waiters = meta::waiters(now.meta);
  attached.meta = meta::with_holds(attached.meta, waiters);
  if (!slot.compare_exchange(now, attached)) return false;
  if (waiters != 0) wake(slot);
  return true;
}

// The meta of a value that replaces (S3) one whose meta is `replaced`; 0: the table's attributes
// are to be renumbered first. It inherits the number if that is the youngest in the table, for no
// other attachment comes between the two in any order. That saves one of the two locked
// instructions of such a set, half its time.
inline uint64_t successor(Table& table, uint64_t replaced, attrcache_tag tag) {
  // Relaxed: numbers that happen before this one are seen, as those of tick(). The tag: a load of
  // two steps (pair_arm.h) must not see one tag before and after a value set with another.
  if (meta::has_sequence(replaced, table.clock.load(kRelaxed)) && meta::has_tag(replaced, tag))
      [[likely]]
    return replaced;
  const uint64_t number = table.tick();
  if (Table::wants_renumbering(number)) [[unlikely]]
    return 0;
  return meta::attached(meta::upper(replaced), tag, number);
}

// (S3) Replaces a value without delete_fn, which nobody claims or pins. The old value's reference
// on the keyval passes on to the new one.
inline bool replace_unclaimed(Pair& slot, SlotContent& now, SlotContent replacement) {
  return slot.compare_exchange(now, replacement);
}

// ---- Deleting ----

// (S4) Detaches a value without delete_fn, which nobody claims or pins. The caller drops its
// reference.
inline bool detach_unclaimed(Pair& slot, uint64_t& now) {
  return slot.compare_exchange_meta(now, 0);
}

// Deletes by others as well find the value deleted (S6): true if it was to be seen until now.
inline bool hide(Pair& slot, uint64_t& now) {
  return slot.compare_exchange_meta(now, now & ~meta::kVisible);
}

// A value that the calling thread has claimed.
class Claim {
 public:
  enum class Of { kDelete, kReplacingSet };

  // (S2) Claims what was found attached as `m`; false, and `m` updated: it has changed.
  bool take(Pair& slot, uint64_t& m, Of of) {
    const uint64_t bits =
        of == Of::kReplacingSet ? meta::kDeleting | meta::kReplacing : meta::kDeleting;
    if (!slot.compare_exchange_meta(m, (m & ~meta::kNoDeleteFn) | bits)) return false;
    slot_ = &slot;
    attached_ = meta::with_holds(m, 0);
    claimed_ = (attached_ & ~meta::kNoDeleteFn) | bits;
    return true;
  }

  // Whether `m` is still that claim, hidden or not, with whatever pins or waiters.
  bool is(uint64_t m) const { return ((m ^ claimed_) & ~(meta::kVisible | meta::kHolds)) == 0; }

  uint64_t attached() const { return attached_; }  // the value's meta before, without pins

  // (S5) Lets the value be attached again. False: another thread has deleted or replaced it
  // meanwhile, so it is detached, and its reference is the caller's.
  bool restore() {
    uint64_t now = slot_->load_meta();
    while (is(now) && meta::visible(now)) {
      if (end(now, meta::with_holds(attached_, meta::waiters(now)))) return true;
    }
    detach();
    return false;
  }

  // (S8) Puts another value in the place of the claimed one, whose reference passes on. False:
  // somebody else has attached a value already.
  bool replace(SlotContent replacement) {
    SlotContent now = slot_->load();
    while (is(now.meta)) {
      const int waiters = meta::waiters(now.meta);
      replacement.meta = meta::with_holds(replacement.meta, waiters);
      if (slot_->compare_exchange(now, replacement)) {
        if (waiters != 0) wake(*slot_);
        return true;
      }
    }
    return false;
  }

  // (S9) Detaches the value, if it still is in the slot. Pinners that wait are left to learn that
  // there is nothing.
  void detach() {
    uint64_t now = slot_->load_meta();
    while (is(now)) {
      const bool awaited = meta::waiters(now) != 0;
      if (end(now, awaited ? now & ~(meta::kVisible | meta::kReplacing) : 0)) return;
    }
  }

 private:
  bool end(uint64_t& now, uint64_t then) {
    const bool awaited = meta::waiters(now) != 0;
    if (!slot_->compare_exchange_meta(now, then)) return false;
    if (awaited) wake(*slot_);
    return true;
  }

  Pair* slot_ = nullptr;
  uint64_t attached_ = 0;
  uint64_t claimed_ = 0;
};

// ---- Pinning ----

// (S10) Pins what was found attached as `m`, or claimed and pinned by this very thread.
inline bool pin(Pair& slot, uint64_t& m) { return slot.compare_exchange_meta(m, m + meta::kHold); }

// (S11) Begins to wait for the end of a replacing set.
inline bool await(Pair& slot, uint64_t& m) {
  return slot.compare_exchange_meta(m, meta::with_holds(m, meta::holds(m) - 1));
}

// What has become of a pinner that waits, by the slot's meta.
enum class Awaited { kNotYet, kPinned, kGone };
constexpr Awaited awaited(uint64_t m) {
  if (meta::holds(m) > 0) return Awaited::kPinned;  // claimed again, perhaps, but the pin is ours
  return meta::replacing(m) ? Awaited::kNotYet : Awaited::kGone;
}

// (S12) A pinner that waited learns that there is nothing.
inline bool leave(Pair& slot, uint64_t& m) {
  const int left = meta::waiters(m) - 1;
  return slot.compare_exchange_meta(m, left != 0 ? meta::with_holds(m, -left) : 0);
}

// Gives a pin back. The last one under a claim wakes the claimer, and those who wait with it.
inline void unpin(Pair& slot) {
  const uint64_t before = slot.add_meta(uint64_t{0} - meta::kHold);
  if (meta::deleting(before) && meta::holds(before) == 1) [[unlikely]]
    wake(slot);
}

}  // namespace attrcache::slot

#endif  // ATTRCACHE_TABLE_SLOT_H_
