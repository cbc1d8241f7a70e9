// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How a deletion is handed off to the last holder of the value, so that nobody waits. (The steps on
// a slot, S1 to S12, are in table/slot.h; the code that takes the steps below is in readers.h,
// table/hold.h, and table/hand_off.h and .cc.)
//
// A holder says so in a cell of its own record, by a plain store. The thread that has deleted or
// replaced the value tells each holder that it finds, by a bit in its cell, and puts a *tomb* into
// the domain, which says what is to be deleted. The last holder that lets go finds the tomb, and
// deletes the value. Tombs are in buckets, by attachment: other values' cost a holder nothing.
//
//   a holder, H                                   the deleter, D
//   L1  announces {slot, attachment} in its cell      takes its step on the slot (S6 exchange, or
//   L2  looks at the slot again: the attachment       S8 claim)
//       is there, so H holds it                   L7  heavy fence; looks for holders, and tells
//       ... uses the value ...                        each. Nobody: D deletes
//   L3  retracts                                  L8  links a tomb of {slot, attachment}; opens
//   L4  looks whether it was told                     it: OPEN
//   L5  takes its turn on the attachment's tomb,  L9  heavy fence; then takes its turn, and looks,
//       by an exchange that changes nothing;          like a holder (L5). Nobody by now: L6;
//       looks: does anybody else hold it?             else D's call succeeds
//   L6  Nobody: takes the tomb: TAKEN; deletes; frees the tomb
//
// Why no value is deleted while it is held. An attempt to hold that succeeds has made its L2 before
// D's step on the slot was visible. So its L1 is visible after the heavy fence
// (asymmetric_fence.h), to D at L7 and L9, and to threads that see the tomb open. Nobody begins to
// hold the attachment any more. So a thread that finds no holder after the fence never would again.
//
// Why somebody deletes. Turns are exchanges of one word, so they have an order, and each sees what
// was before it. Take the last turn, D's own included: it sees the retractions of all that took
// turns. A holder that took none wasn't told, so D has seen its L3; or it didn't see the tomb, so
// its L3 comes before L9's fence. Either is seen by D's turn and those after it. And the last turn
// isn't before D's. So it finds nobody, and takes the tomb, unless somebody else has. (D needs its
// turn since the kernel's fence reaches one thread after the other: a holder that it has reached
// may look before it reaches the next.)
//
// A turn that fails is tried again, unless the tomb is in its next use: that began after H's L4,
// and its own L9, which comes later still, sees H's retraction. So a give_back takes a bounded
// number of turns on each tomb. If D has found only one holder, the tomb names its cell, and the
// thread that lets go of that takes the tomb without a look (L6): D knows that all other holds are
// over, and hands over what they did.
//
// An attempt that fails (at L2 the slot has changed) has looked like a holder to others. So it lets
// go like one (L3 to L6) before it tries again. It may come too late to be told, so it looks for
// the tomb in any case.
//
// A thread that is stopped between L1 and L3 keeps that one value from being deleted; one that is
// stopped between its step and L8, or after L6, has the deletion itself. Nobody waits for either.
//
// Full readers (asymmetric_fence.h) have a full fence between L3 and L4, as between L1 and L2, but
// for the first hold (S4), whose L1 D sees, since it reads what S4 wrote. A light reader has none:
// the meta that it has read says so, which D has read, too; and D's fence then serves for both.

#ifndef ATTRCACHE_READERS_TOMB_H_
#define ATTRCACHE_READERS_TOMB_H_

#include <cstdint>

#include "platform/atomic.h"

namespace attrcache {

// What is handed off to be deleted. Tombs are reused, and released with their domain.
struct Tomb {
  enum Phase : uint64_t {
    kFree,
    kPlaced,  // belongs to the thread that fills it in, to open it, or unlinks it
    kOpen,    // belongs to the thread that takes it
    kTaken    // belongs to the thread that deletes the value
  };
  static constexpr uint64_t kPhases = 3;
  static Phase phase(uint64_t state) { return static_cast<Phase>(state & kPhases); }
  static uint64_t version(uint64_t state) { return state & ~kPhases; }
  static uint64_t with(uint64_t state, Phase phase) { return version(state) | phase; }

  // (L8) Makes a free tomb the caller's. Acquire: what its former owners wrote in it comes first.
  bool place() {
    uint64_t now = state.load(kRelaxed);
    return phase(now) == kFree &&
           state.compare_exchange_strong(now, with(now, kPlaced), kAcquire, kRelaxed);
  }
  // Frees a tomb that is the caller's, and counts its uses. Release: pairs with place().
  void free() {
    const uint64_t now = state.load(kRelaxed);
    state.store(with(now + kPhases + 1, kFree), kRelease);
  }
  // (L8) Releases what the tomb says, and that it is counted. Returns the state to take it by.
  uint64_t open() {
    const uint64_t opened = with(state.load(kRelaxed), kOpen);
    state.store(opened, kRelease);
    return opened;
  }
  // (L5) False: the tomb isn't in the state `now` any more. Acquires the turns before, and L8;
  // releases the retraction.
  bool turn(uint64_t now) { return state.compare_exchange_strong(now, now, kAcqRel, kRelaxed); }
  // (L6) Takes a tomb that was found open. Relaxed: the turn has acquired already.
  bool take(uint64_t now) {
    return state.compare_exchange_strong(now, with(now, kTaken), kRelaxed, kRelaxed);
  }

  Atomic<uint64_t> state{kFree};  // a phase, and above it a version
  // Written by the thread that has placed the tomb, and `taker` and `table` also by the thread that
  // has taken it; relaxed, since opening it releases them, but for `table`.
  Atomic<const void*> slot{nullptr};
  Atomic<uint64_t> meta{0};            // the attachment: the slot's meta, with which
  Atomic<uint64_t> value{0};           // this value was attached
  Atomic<const void*> table{nullptr};  // not to be touched; null: it is gone
  Atomic<class Registry*> registry{nullptr};
  Atomic<uint32_t> keyval{0};
  Atomic<void*> object{nullptr};
  Atomic<uint64_t> taker{0};            // the thread's identity; 0 until it has said so
  Atomic<const void*> sole{nullptr};    // the holder's cell, if only one was found
  struct TombBucket* bucket = nullptr;  // for good
  Atomic<Tomb*> next_made{nullptr};     // of all in its bucket
  Atomic<Tomb*> next{nullptr};          // of those that are linked
  // These belong to the thread that has placed the tomb, or taken it:
  bool linked = false;
  Atomic<uint32_t>* of_table = nullptr;  // counts its table's
};

}  // namespace attrcache

#endif  // ATTRCACHE_READERS_TOMB_H_
