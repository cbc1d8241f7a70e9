// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The steps of the slot protocol, each in one place. No slot that other threads can see is changed
// in any other way, except by S13 in renumber.cc, and by S14 and the step after that in awaited.cc.
// (The owner of a new object, or of one that ends, changes slots that nobody else sees by plain
// stores.) Which operation takes which step is decided in attribute.cc (set, delete), hold.cc
// (borrow, copy), claimed.cc (waiting for those who hold a value), dup_free.cc and, for the common
// cases, in fast_path.h and dup_free_fast.h.
//
// The states of a slot, and the steps that lead from each:
//
//   EMPTY      S1 attach -> ATTACHED
//   ATTACHED   S2 claim -> CLAIMED, by a delete or a replacing set. From now on nobody else gets hold
//                 of the value
//              S3 replace -> ATTACHED and S4 detach -> EMPTY, if the keyval has no delete_fn and the
//                 value isn't known to be read
//              S10 read -> ATTACHED, known to be read: the first of those who borrow or copy it (a
//                 get leaves no trace)
//              S13 renumber -> ATTACHED, with another sequence number (renumber.cc)
//   CLAIMED    The claimer waits for those who hold the value, if it is known to be read, and takes
//                 S12 seen off -> CLAIMED, not read any more. Then it runs delete_fn, if there is one,
//                 and takes S5, S8 or S9
//              S5 restore -> ATTACHED: delete_fn has failed, so the value stays attached
//              S6 hide -> CLAIMED, hidden: another delete, by another thread or within delete_fn, so
//                 get no longer sees the value, and it will not be restored
//              S7 attach, by another set, be it within delete_fn -> ATTACHED. The claimer notices it
//              S8 replace, by the claimer -> ATTACHED
//              S9 detach, by the claimer -> EMPTY
//              S11 await -> CLAIMED, awaited: a borrow or copy waits for the end of a replacing set
//              S14 close -> CLAIMED, closed: if it is awaited, this comes before S5, S7, S8 and S9, by
//                 the same thread. Others change nothing until then, and those who wait are promised
//                 what will be attached, which is known to be read from the start
//
// Whoever claims a value (S2) owns it: that thread alone runs delete_fn, and afterwards it has the
// value's reference on the keyval. Whoever replaces or detaches a value that has no delete_fn (S3,
// S4) owns it by that step.
//
// Who holds a value isn't in the slot. Readers announce it in records of their own (readers/), and
// the slot says only whether there may be any. A reader announces the attachment first, and looks
// at the slot afterwards, or takes S10. A claimer takes S2 first, and then, if the value is known
// to be read, looks through the announcements behind a heavy fence. So the reader finds the claim
// and takes its announcement back, or the claimer finds the announcement:
//
//   thread R: borrow                              thread D: delete
//   loads the slot: ATTACHED, read
//   announces (slot, attachment) in its record
//                                                 S2: CLAIMED, read
//   loads the slot: CLAIMED, so it withdraws      heavy fence: R's announcement is visible, or R has
//     its announcement: ABSENT                      not made it, and will find the claim
//                                                 finds R's announcement, and waits
//                                                 is woken, finds none
//                                                 S12, delete_fn, S9
//
// Had R loaded the slot before S2, it would hold the value, and D would wait for its give_back.
//
// Nobody starves. A claimer waits for those who held the value when it claimed; the claim keeps all
// others off. Who waits for a replacing set gets its answer by the very step that ends the set,
// whoever takes that: it holds the value that is attached then, or is told that there is none (S9).
// So it is passed by no set, even if it isn't scheduled for long. It waits from S11 on, if that
// comes before S14; who comes later begins anew.
//
// What a reader of a slot may assume. load() reads value and meta as of one instant; what the other
// ways of reading promise, pair.h says. The meta says under which keyval and with which tag the
// value was set. An attached or claimed value holds a reference on its keyval, so that keyval isn't
// gone. If the meta is unchanged since it was read, the slot was not emptied or attached to since.
// But the value may have been claimed and restored (S5), since delete_fn has failed; or replaced by
// S3, under a keyval without delete_fn, if it wasn't known to be read. That is safe, because
// whoever deletes takes the value that is there, and S10 compares the value as well. A value that
// the reader doesn't hold may be deleted at any moment after it was read.
//
// Linearization: set takes effect at S1, S3, S7 or S8; delete at S4, S6 or S9, or at the load that
// finds nothing; get at its load of the slot; borrow and copy at S10, at their second load, or at
// the end (S5, S7, S8, S9) of the set that they have waited for; a copy of a value that the thread
// itself is deleting at its load of the slot.
//
// Memory orders are those of Pair: every step acquires and releases, and acquires when it fails. So
// whoever sees a value attached sees what was written before it was set. And a claimer that has
// seen the last announcement go sees what that thread has done with the value (F2).

#ifndef ATTRCACHE_TABLE_SLOT_H_
#define ATTRCACHE_TABLE_SLOT_H_

#include <cstdint>

#include "callback/language.h"
#include "platform/pair.h"
#include "readers/readers.h"
#include "table/awaited.h"
#include "table/meta.h"
#include "table/table.h"

namespace attrcache::slot {

// ---- Attaching ----

// (S1) Attaches a value to a slot that was found to hold `now`, and to be empty. If the slot has
// changed, this fails and updates `now`.
inline bool attach(Pair& slot, SlotContent& now, SlotContent attached) {
  return slot.compare_exchange(now, attached);
}

// (S7, S8) The same over a claimed value. If that is awaited, S14 comes first.
inline bool attach_over(Pair& slot, SlotContent& now, SlotContent attached, Readers& readers) {
  if (!meta::awaited(now.meta)) [[likely]]
    return slot.compare_exchange(now, attached);
  if (end_awaited(readers, slot, now.meta, attached)) return true;
  now = slot.load();
  return false;
}

// The meta of a value that replaces (S3) one whose meta is `replaced`; 0 if the table's attributes
// must be renumbered first. If the old number is the youngest of the table, the new value inherits
// it: no other attachment can come between the two in any order. That saves one of the two locked
// instructions of such a set, and with it 40% of its time: 7.7 ns instead of 13.0 (x86-64).
inline uint64_t successor(Table& table, uint64_t replaced, attrcache_tag tag) {
  // Relaxed, because numbers that were given out before this happens are seen anyway, as in tick().
  // The tag must be the same, because a load of two steps (two_step_load.h) would otherwise take a
  // value of one tag for one of the other.
  if (meta::has_number(replaced, table.clock.load(kRelaxed)) && meta::has_tag(replaced, tag))
      [[likely]]
    return replaced;
  const uint64_t number = table.tick();
  if (Table::wants_renumbering(number)) [[unlikely]]
    return 0;
  return meta::attached(meta::like(replaced), tag, number);
}

// (S3) Replaces a value without delete_fn that is neither claimed nor known to be read. The new
// value takes over the old one's reference on the keyval.
inline bool replace_unclaimed(Pair& slot, SlotContent& now, SlotContent replacement) {
  return slot.compare_exchange(now, replacement);
}

// ---- Deleting ----

// (S4) Detaches a value without delete_fn that is neither claimed nor known to be read. The caller
// must drop the value's reference on the keyval.
inline bool detach_unclaimed(Pair& slot, uint64_t& now) {
  return slot.compare_exchange_meta(now, 0);
}

// (S6) Hides a value that is being deleted, so that the caller's delete takes effect now.
// False if the slot has changed.
inline bool hide(Pair& slot, uint64_t now, const Threads& threads) {
  if (meta::closed(now)) wait_until_open(threads, slot);  // and then it has changed
  return slot.compare_exchange_meta(now, now & ~meta::kVisible);
}

// A value that the calling thread has claimed.
class Claim {
 public:
  enum class Of { kDelete, kReplacingSet };

  explicit Claim(Readers& readers) : readers_(readers) {}

  // (S2) Claims the value whose meta was found to be `m`. False, and `m` updated, if the slot has
  // changed.
  bool take(Pair& slot, uint64_t& m, Of of) {
    const uint64_t bits =
        of == Of::kReplacingSet ? meta::kDeleting | meta::kReplacing : meta::kDeleting;
    if (!slot.compare_exchange_meta(m, (m & ~meta::kNoDeleteFn) | bits)) return false;
    slot_ = &slot;
    attached_ = m & ~meta::kRead;
    claimed_ = (attached_ & ~meta::kNoDeleteFn) | bits;
    return true;
  }

  // Whether `m` still is this claim's meta, whether hidden or not, read, awaited, or closed.
  bool is(uint64_t m) const {
    constexpr uint64_t kMayChange = meta::kVisible | meta::kRead | meta::kAwaited | meta::kClosed;
    return ((m ^ claimed_) & ~kMayChange) == 0;
  }

  // The meta that the value had before, but for kRead.
  uint64_t attached() const { return attached_; }

  // (S12) Says that nobody holds the value any more; not where somebody is about to end the claim.
  void seen_off() {
    uint64_t now = slot_->load_meta();
    while (is(now) && !meta::closed(now) &&
           !slot_->compare_exchange_meta(now, now & ~meta::kRead)) {
    }
  }

  // (S5) Makes the value attached again. False: another thread has deleted or replaced it
  // meanwhile, so it belongs to the caller, who must detach() it.
  bool try_restore() {
    uint64_t now = slot_->load_meta();
    while (is(now) && meta::visible(now)) {
      if (end(now, meta::restored(attached_) | (now & meta::kRead))) return true;
    }
    return false;
  }

  // The same, but it detaches what can't be restored: then its reference on the keyval belongs to
  // the caller.
  bool restore() {
    if (try_restore()) return true;
    detach();
    return false;
  }

  // (S8) Puts another value in the place of the claimed one, and hands it the claimed one's
  // reference on the keyval. False: another thread has attached a value already.
  bool replace(SlotContent replacement) {
    SlotContent now = slot_->load();
    while (is(now.meta)) {
      if (attach_over(*slot_, now, replacement, readers_)) return true;
    }
    return false;
  }

  // (S9) Detaches the value, if it still is in the slot.
  void detach() {
    uint64_t now = claimed_;  // only a guess for the exchange
    while (!end(now, 0) && is(now)) {
    }
  }

 private:
  bool end(uint64_t& now, uint64_t then) {
    if (!meta::awaited(now)) [[likely]]
      return slot_->compare_exchange_meta(now, then);
    const SlotContent held = slot_->load();
    if (held.meta == now && end_awaited(readers_, *slot_, now, {held.value, then})) return true;
    now = slot_->load_meta();
    return false;
  }

  Readers& readers_;
  Pair* slot_ = nullptr;
  uint64_t attached_ = 0;
  uint64_t claimed_ = 0;
};

// ---- Reading ----

// (S10) Makes it known that the value in an unclaimed slot is read. It compares the value, too:
// under a keyval without delete_fn it may have been replaced under the same meta.
inline bool read(Pair& slot, SlotContent& now) {
  return slot.compare_exchange(now, {now.value, now.meta | meta::kRead});
}

// (S11) Makes it known that somebody waits for the end of a replacing set. It is an exchange even
// if that is known already, so that whoever ends the set sees what the caller has announced. False
// if the slot has changed.
inline bool await(Pair& slot, uint64_t m) {
  return slot.compare_exchange_meta(m, m | meta::kAwaited);
}

}  // namespace attrcache::slot

#endif  // ATTRCACHE_TABLE_SLOT_H_
