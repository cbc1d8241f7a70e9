// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The steps of the slot protocol, each in one place. No slot that other threads can see is changed
// in any other way. (The owner of a new object, or of one that ends, changes slots that nobody else
// sees by plain stores.) Which operation takes which step is decided in set.h, attribute.h and
// attribute.cc (set, delete), hold.h and hold.cc (borrow, copies), hand_off.cc, dup.cc and free.cc.
// How a deletion is handed off to holders is in readers/tomb.h.
//
// The states of a slot, and the steps that lead from each:
//
//   EMPTY      S1  attach -> ATTACHED
//   ATTACHED   Of a keyval without delete_fn:
//                S2  replace -> ATTACHED
//                S3  detach -> EMPTY
//              Of any other:
//                S4  hold -> ATTACHED, no longer unheld: the first borrow or copy (a get leaves no
//                    trace)
//                S5  lighten -> ATTACHED, light: it is borrowed often, and from now on by light
//                    readers (hold.h)
//                S6  exchange -> ATTACHED, by a set: the new value is there, unheld, and the
//                    setter owns the old one
//                S7  take back -> ATTACHED, by that setter, whose delete_fn has failed: the
//                    old value is there again, in place of the new one, if that is exactly as S6
//                    attached it. (Of a keyval that deletes once: -> EMPTY)
//                S8  claim -> CLAIMED, by a delete or a free. From now on nobody gets hold of it
//   CLAIMED      S9  restore -> ATTACHED, no longer unheld, by the claimer, whose delete_fn failed
//                S10 hide -> CLAIMED, hidden: another delete, so get no longer sees the value,
//                    and it will not be restored
//                S11 attach over -> ATTACHED: a set, whose value takes the place of the claimed one
//                S12 detach -> EMPTY, by the claimer
//
// The thread that has taken a value out of its slot, or claimed it (S2, S3, S6, S8), owns it, with
// its reference on the keyval, and deletes it, or hands that off. lib/CONCURRENCY.md teaches
// why a set exchanges first and a delete claims first (step 2), and what slots don't show (4).
//
// What a reader of a slot may assume. load() reads value and meta as of one instant; pair.h says
// what the other ways of reading promise. The meta says under which keyval and with which tag the
// value was set. An attached or claimed value holds a reference on its keyval, so that keyval isn't
// gone. If the meta is unchanged since it was read, it is the same attachment. But the value may
// have been claimed and restored; or replaced by S2, under a keyval without delete_fn. A value that
// the reader doesn't hold may be deleted at any moment after it was read.
//
// Memory orders are those of Pair: every step acquires and releases, and acquires when it fails. So
// a thread that sees a value attached sees what was written before it was set.

#ifndef ATTRCACHE_TABLE_SLOT_H_
#define ATTRCACHE_TABLE_SLOT_H_

#include <cstdint>

#include "platform/pair.h"
#include "table/meta.h"
#include "table/table.h"

namespace attrcache::slot {

// ---- Attaching ----

// Puts a value into a slot that was found to hold `now`. If the slot has changed, this fails and
// updates `now`; and so do all others that take `now`.
//   (S1, S11) `now` was nothing, or a claimed value: the new value has a reference of its own, and
//   is counted (T5).
//   (S2) A value without delete_fn: the new one takes over its reference on the keyval.
//   (S6) A value that has one: it is the caller's from now on, and so is its reference.
//   (S7) Exactly what S6 has put there: the old value is attached once more.
inline bool put(Pair& slot, SlotContent& now, SlotContent value) {
  return slot.compare_exchange(now, value);
}

// The meta of a value that replaces (S2) one whose meta is `replaced`. If the old number is the
// youngest of the table, the new value inherits it: no other attachment can come between the two in
// any order. That saves one of the two locked instructions of such a set, and with it 40% of its
// time: 7.7 ns instead of 13.0 (x86-64).
inline uint64_t successor(Table& table, uint64_t replaced, attrcache_tag tag) {
  // Relaxed, because numbers that were given out before this happens are seen anyway, as in tick().
  // The tag must be the same, because a load of two steps (two_step_load.h) would otherwise take a
  // value of one tag for one of the other.
  if (meta::has(replaced, table.clock.load(kRelaxed), tag)) [[likely]]
    return replaced;
  return meta::attached(meta::like(replaced), tag, table.tick());
}

// ---- Deleting ----

// (S3) Detaches a value without delete_fn, or one whose delete_fn must not run, and uncounts it
// (T5), at the offset `at`. The caller must drop the value's reference on the keyval.
[[gnu::always_inline]] inline bool detach(Pair& slot, id::Offset at, uint64_t& now) {
  if (!slot.compare_exchange_meta(now, 0)) [[unlikely]]
    return false;
  uncount_attribute(slot, at);
  return true;
}

// (S10) Hides a value that is being deleted, so that the caller's delete takes effect now.
inline bool hide(Pair& slot, uint64_t now) {
  return slot.compare_exchange_meta(now, now & ~meta::kVisible);
}

// A value that the calling thread has claimed.
class Claim {
 public:
  // (S8) Claims the value whose meta was found to be `m`. False, and `m` updated, if the slot has
  // changed.
  [[gnu::always_inline]] bool take(Pair& slot, uint64_t& m) {
    slot_ = &slot;
    claimed_ = m | meta::kDeleting;
    return slot.compare_exchange_meta(m, claimed_);
  }

  // (S9) Makes the value attached again. False: another thread has deleted or replaced it
  // meanwhile, so it is gone, and its reference on the keyval is the caller's to drop.
  [[gnu::always_inline]] bool restore(id::Offset at) {
    uint64_t now = claimed_;  // only a guess for the exchange
    if (slot_->compare_exchange_meta(now, now & ~(meta::kDeleting | meta::kUnheld))) return true;
    detach(at);
    return false;
  }

  // (S12) Detaches the value, if it still is in the slot, and uncounts it (T5).
  [[gnu::always_inline]] void detach(id::Offset at) {
    uint64_t now = claimed_;  // as above
    if (!slot_->compare_exchange_meta(now, 0)) [[unlikely]]
      detach_hidden(*slot_, claimed_, now);
    uncount_attribute(*slot_, at);
  }

 private:
  // It may have been hidden, or be gone.
  [[gnu::noinline]] static void detach_hidden(Pair& slot, uint64_t claimed, uint64_t now) {
    while (((now ^ claimed) & ~meta::kVisible) == 0 && !slot.compare_exchange_meta(now, 0)) {
    }
  }

  Pair* slot_ = nullptr;
  uint64_t claimed_ = 0;
};

// ---- Holding ----

// (S4) Marks the value as held. It compares the value, too, so that the caller holds what it has
// read.
inline bool hold(Pair& slot, SlotContent& now) {
  return slot.compare_exchange(now, {now.value, now.meta & ~meta::kUnheld});
}

// (S5) Makes a value that the caller holds light.
inline void lighten(Pair& slot, uint64_t held) {
  slot.compare_exchange_meta(held, held & ~meta::kFull);  // or it is light, claimed or gone by now
}

}  // namespace attrcache::slot

#endif  // ATTRCACHE_TABLE_SLOT_H_
