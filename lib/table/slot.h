// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The steps of the slot protocol, each in one place. No slot that other threads can see is changed
// in any other way, except by S13 in renumber.cc. Which operation takes which step is decided in
// attribute.cc (set, delete, borrow), in dup_free.cc (dup and free) and, for the common cases, in
// fast_path.h and dup_free_fast.h.
//
// The states of a slot, and the steps that lead from each. The number in brackets counts the pins
// (copies and borrows under way); if it is negative, it counts the pinners that wait:
//
//   EMPTY         S1 attach -> ATTACHED(0)
//   ATTACHED(p)   S2 claim -> CLAIMED(p), by a delete or a replacing set. From now on no other
//                    thread pins the value
//                 S3 replace -> ATTACHED(0) and S4 detach -> EMPTY, if p is 0 and the keyval has no
//                    delete_fn
//                 S10 pin -> ATTACHED(p + 1); unpin -> ATTACHED(p - 1)
//                 S13 renumber -> ATTACHED(p), with another sequence number (renumber.cc)
//   CLAIMED(p)    p > 0: the claimer waits for these pins.  unpin -> CLAIMED(p - 1)
//                    S10 pin -> CLAIMED(p + 1), by a thread that holds one of them
//                 p = 0: the claimer runs delete_fn, if there is one, and then takes S5, S8 or S9
//                 p < 0: the same, and -p pinners wait for the end of the claim. They wait only if
//                    it is part of a replacing set.  S11 await -> CLAIMED(p - 1)
//                 S5 restore -> ATTACHED(-p): delete_fn has failed, so the value stays attached
//                 S6 hide -> hidden CLAIMED(p): another thread has deleted the value as well, so
//                    get no longer sees it, and it will not be restored
//                 S7 attach, by the set of any other thread, if p <= 0 -> ATTACHED(-p). The
//                    claimer notices it
//                 S8 replace, by the claimer -> ATTACHED(-p)
//                 S9 detach, by the claimer -> EMPTY, or -> GONE(-p) if pinners wait
//   GONE(w)       a hidden CLAIMED(-w) without a claimer, and not part of a replacing set. The w
//                 pinners must still learn that there is no value.  S7 as above;
//                 S12 leave -> GONE(w - 1), or -> EMPTY by the last one
//
// Whoever claims a value (S2) owns it: that thread alone runs delete_fn, and afterwards it has the
// value's reference on the keyval. Whoever replaces or detaches a value that has no delete_fn (S3,
// S4) owns it by that step.
//
// Nobody starves. A claimer waits for the pins that were there when it claimed, and for those that
// the same threads add; the claim keeps all other threads off. A pinner that waits for a replacing
// set is handed its pin by the step that ends the set (S5, S7, S8), so it need not be lucky and
// find the slot unclaimed. For this the number of waiters must never get lost: it stays in the slot
// until each of them has seen how its wait ended.
//
// What a reader of a slot may assume. load() reads value and meta as of one instant; what the other
// ways of reading promise, pair.h says. The meta says under which keyval and with which tag the
// value was set. An attached or claimed value holds a reference on its keyval, so that keyval isn't
// gone. If the meta is unchanged since it was read, the slot was not emptied or attached to since.
// But its value may have been pinned and given back, or claimed and restored (S5), since delete_fn
// has failed; or replaced by S3, under a keyval without delete_fn. That is safe, because whoever
// deletes takes the value that is there, and whoever pins reads the value after pinning. A value
// that the reader hasn't pinned may be deleted at any moment after it was read.
//
// Linearization: set takes effect at S1, S3, S7 or S8; delete at S4, S6 or S9, or at the load that
// finds nothing; get at its load of the slot; borrow and copy at S10, or at the step that hands
// over their pin.
//
// Memory orders are those of Pair: every step acquires and releases, and acquires when it fails. So
// whoever sees a value attached sees what was written before it was set. And a claimer that has
// seen the last pin go sees what the threads that held the pins have done with the value.

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

// Whether a set may attach here: the slot is empty, or its value is being deleted and not pinned.
constexpr bool vacant(uint64_t m) {
  return meta::empty(m) || (meta::deleting(m) && !meta::pinned(m));
}

// (S1, S7) Attaches a value to a vacant slot that was found to hold `now`. If the slot has changed,
// this fails and updates `now`.
inline bool attach(Pair& slot, SlotContent& now, SlotContent attached) {
  const int waiters = meta::waiters(now.meta);
  attached.meta = meta::with_holds(attached.meta, waiters);
  if (!slot.compare_exchange(now, attached)) return false;
  if (waiters != 0) wake(slot);
  return true;
}

// The meta of a value that replaces (S3) one whose meta is `replaced`; 0 if the table's attributes
// must be renumbered first. If the old number is the youngest of the table, the new value inherits
// it: no other attachment can come between the two in any order. That saves one of the two locked
// instructions of such a set, and with it 40% of its time: 7.7 ns instead of 13.0 (x86-64).
inline uint64_t successor(Table& table, uint64_t replaced, attrcache_tag tag) {
  // Relaxed, because numbers that were given out before this happens are seen anyway, as in tick().
  // The tag must be the same, because a load of two steps (two_step_load.h) would otherwise take a
  // value of one tag for one of the other.
  if (meta::has_sequence(replaced, table.clock.load(kRelaxed)) && meta::has_tag(replaced, tag))
      [[likely]]
    return replaced;
  const uint64_t number = table.tick();
  if (Table::wants_renumbering(number)) [[unlikely]]
    return 0;
  return meta::attached(meta::upper(replaced), tag, number);
}

// (S3) Replaces a value without delete_fn that is neither claimed nor pinned. The new value takes
// over the old one's reference on the keyval.
inline bool replace_unclaimed(Pair& slot, SlotContent& now, SlotContent replacement) {
  return slot.compare_exchange(now, replacement);
}

// ---- Deleting ----

// (S4) Detaches a value without delete_fn that is neither claimed nor pinned. The caller must drop
// the value's reference on the keyval.
inline bool detach_unclaimed(Pair& slot, uint64_t& now) {
  return slot.compare_exchange_meta(now, 0);
}

// (S6) Hides a value that another thread is deleting, so that the caller's delete takes effect now.
// False, and `now` updated, if the slot has changed.
inline bool hide(Pair& slot, uint64_t& now) {
  return slot.compare_exchange_meta(now, now & ~meta::kVisible);
}

// A value that the calling thread has claimed.
class Claim {
 public:
  enum class Of { kDelete, kReplacingSet };

  // (S2) Claims the value whose meta was found to be `m`. False, and `m` updated, if the slot has
  // changed.
  bool take(Pair& slot, uint64_t& m, Of of) {
    const uint64_t bits =
        of == Of::kReplacingSet ? meta::kDeleting | meta::kReplacing : meta::kDeleting;
    if (!slot.compare_exchange_meta(m, (m & ~meta::kNoDeleteFn) | bits)) return false;
    slot_ = &slot;
    attached_ = meta::with_holds(m, 0);
    claimed_ = (attached_ & ~meta::kNoDeleteFn) | bits;
    return true;
  }

  // Whether `m` still is this claim's meta, whether hidden or not, and whatever its pins or
  // waiters.
  bool is(uint64_t m) const { return ((m ^ claimed_) & ~(meta::kVisible | meta::kHolds)) == 0; }

  // The meta that the value had before, without pins.
  uint64_t attached() const { return attached_; }

  // (S5) Makes the value attached again. False: another thread has deleted or replaced it
  // meanwhile, so it is detached, and its reference on the keyval now belongs to the caller.
  bool restore() {
    uint64_t now = slot_->load_meta();
    while (is(now) && meta::visible(now)) {
      if (end(now, meta::with_holds(attached_, meta::waiters(now)))) return true;
    }
    detach();
    return false;
  }

  // (S8) Puts another value in the place of the claimed one, and hands it the claimed one's
  // reference on the keyval. False: another thread has attached a value already.
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

  // (S9) Detaches the value, if it still is in the slot. If pinners wait, the slot becomes GONE, so
  // that they learn that there is no value.
  void detach() {
    uint64_t now = claimed_;  // only a guess for the exchange
    do {
      const bool awaited = meta::waiters(now) != 0;
      if (end(now, awaited ? now & ~(meta::kVisible | meta::kReplacing) : 0)) return;
    } while (is(now));
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

// (S10) Pins the value whose meta was found to be `m`. It must be attached, or claimed and already
// pinned by the calling thread.
inline bool pin(Pair& slot, uint64_t& m) { return slot.compare_exchange_meta(m, m + meta::kHold); }

// (S11) Counts the caller among those who wait for the end of a replacing set.
inline bool await(Pair& slot, uint64_t& m) {
  return slot.compare_exchange_meta(m, meta::with_holds(m, meta::holds(m) - 1));
}

// What the slot's meta says to a pinner that waits: nothing yet, that it was handed its pin, or
// that the value is gone.
enum class Awaited { kNotYet, kPinned, kGone };
constexpr Awaited awaited(uint64_t m) {
  if (meta::holds(m) > 0) return Awaited::kPinned;  // perhaps claimed again, but one pin is ours
  return meta::replacing(m) ? Awaited::kNotYet : Awaited::kGone;
}

// (S12) Takes a pinner off the count of those who wait, after it has learnt that the value is gone.
inline bool leave(Pair& slot, uint64_t& m) {
  const int left = meta::waiters(m) - 1;
  return slot.compare_exchange_meta(m, left != 0 ? meta::with_holds(m, -left) : 0);
}

// Gives a pin back. The last one under a claim wakes the claimer, and all who wait at this slot.
inline void unpin(Pair& slot) {
  const uint64_t before = slot.add_meta(uint64_t{0} - meta::kHold);
  if (meta::deleting(before) && meta::holds(before) == 1) [[unlikely]]
    wake(slot);
}

}  // namespace attrcache::slot

#endif  // ATTRCACHE_TABLE_SLOT_H_
