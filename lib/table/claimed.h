// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Between the claim of a value and its delete_fn: waiting for those who hold it, and what becomes
// of the deletion if that would never end.
//
// A wait would never end if the holder waits for the caller, be it through others. Each thread
// announces for whom it waits before it looks, so of those who close a circle at least one finds it
// (circle.h). If the holder has borrowed the value, the call ends with DEADLOCK, and nothing has
// changed. If a copy_fn holds it, the call takes the value out of the slot and leaves the deletion
// to the thread that copies, which runs delete_fn when its copy_fn has ended. Borrowers are waited
// for first, and nobody but the claimer deletes or replaces a claimed value before they are gone.
// So whoever has taken a claimed value out of its slot has only copiers left to wait for.

#ifndef ATTRCACHE_TABLE_CLAIMED_H_
#define ATTRCACHE_TABLE_CLAIMED_H_

#include <cstdint>
#include <optional>

#include "table/attribute.h"
#include "table/slot.h"

namespace attrcache {

// The heavy fence of one call, of which a whole free needs no more than one: nobody else may begin
// to read an object that is freed. (In a circle of waits, begin_to_leave() needs another one.) So
// that whoever lets go of one of its values sees that somebody waits, whichever that is, the call
// is counted as a claimer from before that fence to its end.
class FenceOnce {
 public:
  enum class Of { kValue, kObject };
  explicit FenceOnce(Of of) : of_(of) {}
  void operator()(Readers& readers) {
    if (done_) return;
    if (of_ == Of::kObject) claiming_.emplace(readers);
    readers.heavy_fence();
    done_ = true;
  }

 private:
  const Of of_;
  bool done_ = false;
  std::optional<Readers::Claiming> claiming_;
};

// Somebody who holds an attachment, as announced.
struct Holder {
  Announcement* cell;
  uintptr_t what;
  uint64_t meta;
  uint64_t who;
};

enum class SeenOff {
  kYes,   // nobody holds the value any more
  kLeft,  // the deletion is left to a copier, who waits for the caller: leave() must follow, when
          // the value was taken out of the slot. Its reference on the keyval passes to the copier
  kDeadlock  // a borrower does, and the value is attached again
};

// To be called after a claim of a value that was known to be read. `claimed` is what the slot held.
// This thread's own copies of it, up its stack, are given up: a copy_fn that deletes or replaces
// what it copies won't read it any more.
SeenOff see_off(const Target& target, Pair& slot, id::Keyval keyval, slot::Claim& claim,
                SlotContent claimed, FenceOnce& fence, Holder* holder);

// Waits until nobody has borrowed a value that another thread has claimed, nor, with `copied`,
// copies it. OK, or DEADLOCK; who copies is not waited for in a circle. `claimed` is what the slot
// held.
int see_others_off(const Target& target, Pair& slot, id::Keyval keyval, SlotContent claimed,
                   bool copied);

// Finds one that holds an attachment in that way, other than the calling thread.
bool find_holder(const Readers& readers, const Table& table, const Pair& slot, uint64_t m,
                 Says says, Holder* holder);

// Chooses a copier to leave a deletion to, who waits until leave() follows. False: its copying has
// ended, or it was chosen by somebody else, or has borrowed the value: then it may keep the value
// for longer than it copies it.
bool begin_to_leave(Readers& readers, const Table& table, const Holder& holder, const Pair& slot);

// Hands the value to the copier that was chosen.
void leave(Readers& readers, const Holder& holder, const Pair& slot, uint64_t value);

// Whether the deletion of an attachment was left to a copy_fn of this thread. To be asked by who
// has announced that it holds it once more: if somebody is just leaving it, this waits for that.
bool is_left(const Readers& readers, const Table& table, const Pair& slot, uint64_t m);

// Deletes the value whose deletion was left to the one who has withdrawn that cell.
[[gnu::noinline, gnu::cold]] void delete_left(const Target& from, Pair& slot, id::Keyval keyval,
                                              Announcement& cell);

// Ends what copy_fns up this thread's stack still hold of a table that is about to be released, and
// deletes what was left to them. They don't touch the table afterwards, so they couldn't do that
// themselves; and other threads' deletions, for which a free waits, may wait for them. `outer`: the
// frames of those who called. False: there was nothing.
[[gnu::noinline, gnu::cold]] bool end_own_copies(const Target& target, Frame* outer);

// Ends the announcement of a copy; the cell stays taken. If the deletion of the value was left to
// it, this runs delete_fn, whose failure has nobody to be told to.
[[gnu::always_inline]] inline void end_copy_hold(const Target& from, Pair& slot, id::Keyval keyval,
                                                 Announcement& cell) {
  if (from.registry.readers().withdraw_copy(cell, slot)) [[unlikely]]
    delete_left(from, slot, keyval, cell);
}

// Whether anybody, of any thread, holds the attachment whose meta is `m`; and how many do.
unsigned count_holders(const Readers& readers, const Table& table, const Pair& slot, uint64_t m);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_CLAIMED_H_
