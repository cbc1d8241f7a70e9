// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How a deletion is handed off to the last holder of the value, so that nobody waits. (The steps on
// a slot, S1 to S12, are in table/slot.h; the code that takes the steps below is in readers.h and
// table/hand_off.cc.)
//
// A thread that holds a value says so in a cell of its own record, by a plain store. The thread
// that has deleted or replaced the value looks through the cells in use. If it finds a holder, it
// puts a *tomb* into the domain, which says what is to be deleted. Each holder that lets go looks
// whether there is a tomb of the attachment that it held: only that one concerns it. The last one
// finds that nobody else holds the value any more, and deletes it. Tombs are in buckets, by
// attachment; a bucket that has none in use says so in one load, which is all that a holder nearly
// always looks at.
//
//   a holder, H                                   the deleter, D
//   L1  announces {slot, attachment} in its cell      takes its step on the slot (S6 exchange, or
//   L2  looks at the slot again: the attachment       S8 claim)
//       is there, so H holds it                   L7  heavy fence; looks: does anybody hold it?
//       ... uses the value ...                        Nobody: D deletes
//   L3  retracts                                  L8  counts a tomb of {slot, attachment}, and opens
//   L4  looks whether its bucket has tombs:           it: OPEN
//       nearly always it has none                 L9  heavy fence; then takes its turn, and looks,
//   L5  takes its turn on the attachment's tomb,      like a holder (L5). Nobody by now: L6
//       by an exchange that changes nothing           else D's call succeeds
//       looks: does anybody else hold it?
//   L6  Nobody: takes the tomb: TAKEN; deletes;
//       frees the tomb
//
// Why no value is deleted while it is held. An attempt to hold that succeeds has made its L2 before
// D's step on the slot was visible. So its L1 is visible after the heavy fence
// (asymmetric_fence.h), to D at L7 and L9, and to threads that see the tomb open, which acquire
// that. Nobody begins to hold the attachment any more. So once a thread has looked after the fence
// and found no holder, there will never be one.
//
// Why somebody deletes. Turns are exchanges of one word, so they have an order, and each sees what
// was before it. Take the last turn, D's own included: it sees the retractions of all that took
// turns. A holder that took none didn't see the tomb at L4, so its L3 comes before L9's fence, and
// is seen by D's turn and those after it. And the last turn isn't before D's. So it finds nobody,
// and takes the tomb, unless somebody else has. (D needs its turn since the kernel's fence reaches
// one thread after the other: a holder that it has reached may look before it reaches the next.)
//
// A turn fails if the tomb has changed, and is tried again, unless the tomb has been reused
// meanwhile: that use began after H's L4, and its own L9 comes later still. So a give_back takes as
// many steps as there are tombs, whatever others do meanwhile.
//
// An attempt that fails (at L2 the slot has changed) has looked like a holder to others. So it must
// let go like one, before it tries to hold another attachment: it retracts, and takes L4 to L6. (A
// borrow runs what it has taken at the end of its call, since the table may die within delete_fn.)
//
// A thread that is stopped for ever between L1 and L3 keeps that one value from being deleted. A
// thread stopped between its step and L8, or after L6, has the deletion itself. Nobody else waits.
//
// Full readers (asymmetric_fence.h) have a full fence between L3 and L4, as between L1 and L2, but
// for the first hold of a value (S4): D's step reads what S4 wrote, and so sees its L1. Light readers
// need none: D's heavy fence falls between two of their instructions. A holder is a light one only if
// the meta that it has announced says that the attachment is light; D has then read that, too, and
// executes the heavy fence for light readers. If it is light only since, D's fence serves for both.

#ifndef ATTRCACHE_READERS_TOMB_H_
#define ATTRCACHE_READERS_TOMB_H_

#include <cstdint>

#include "platform/atomic.h"

namespace attrcache {

// What is handed off to be deleted. Tombs are reused, but never released before their domain.
struct Tomb {
  enum Phase : uint64_t {
    kFree,
    kPlaced,  // belongs to the thread that fills it in, to open it
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
  // Frees a tomb that the caller has taken. Release: pairs with place(). The version
  // distinguishes this use of the tomb from the next.
  void free() {
    const uint64_t now = state.load(kRelaxed);
    state.store(with(now + kPhases + 1, kFree), kRelease);
  }
  // (L8) Releases what the tomb says, and that it is counted. Returns its new state, by which the
  // caller may take it back.
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
  // has taken it; relaxed, since opening it releases them.
  Atomic<uintptr_t> slot{0};
  Atomic<uint64_t> meta{0};   // the attachment: the slot's meta, with which
  Atomic<uint64_t> value{0};  // this value was attached
  // The table, whose memory isn't touched; 0: the table is gone.
  Atomic<uintptr_t> table{0};
  Atomic<uintptr_t> registry{0};
  Atomic<uint32_t> keyval{0};
  // The object's handle and, if the keyval's callbacks are Fortran's, its Fortran INTEGER.
  Atomic<int> fortran_handle{0};
  Atomic<uintptr_t> object{0};
  // The thread that has taken it (Threads::identity); 0 until that thread has said so. Relaxed: it
  // is compared with each thread's own.
  Atomic<uint64_t> taker{0};
  // Written before it is published: the next one of its bucket.
  Tomb* next = nullptr;
  struct TombBucket* bucket = nullptr;
  Tomb* taken_before = nullptr;  // for the thread that has taken it, which may take several
};

// Tombs of the attachments that have the same hash.
struct TombBucket {
  Atomic<Tomb*> first{nullptr};
  Atomic<uint32_t> in_use{0};
};

}  // namespace attrcache

#endif  // ATTRCACHE_READERS_TOMB_H_
