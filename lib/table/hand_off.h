// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Deletions of values that others hold: they are handed off to the last holder. readers/tomb.h has
// the protocol.

#ifndef ATTRCACHE_TABLE_HAND_OFF_H_
#define ATTRCACHE_TABLE_HAND_OFF_H_

#include <cstdint>

#include "table/attribute.h"
#include "table/slot.h"

namespace attrcache {

// The readers that a deleter of a value must reckon with.
inline AsymmetricFence::Of readers_of(uint64_t m) {
  return meta::light(m) ? AsymmetricFence::Of::kLight : AsymmetricFence::Of::kFull;
}

// (L3, L4) Ends a hold, or an attempt, or what is left of a hold that was given up. The cell then
// says kTaken. True: the thread that deletes the value has found this.
inline bool retract_hold(Announcement& cell) {
  Readers::retract(cell, uint64_t(Says::kTaken));
  if (!meta::light(cell.meta.load(kRelaxed))) full_fence();
  return meta::deleting(cell.meta.load(kRelaxed));
}
// (L5, L6) For a thread that has let go of an attachment, and was to look for its tomb: takes that,
// if the deletion is this thread's, and returns it, or null.
Tomb* take_handed_off(const Readers& readers, const Pair* slot, const Announcement& cell);
// Deletes the value of a tomb that this thread has taken, with nothing held, and frees the tomb.
void delete_handed_off(Readers& readers, Tomb& tomb);
// (L3 to L6) All of that, for a hold, or an attempt that has failed, perhaps too late to be found.
// The table may be gone afterwards.
inline void let_go(Readers& readers, const Pair& slot, Announcement& cell, bool held) {
  if (!retract_hold(cell) && held) [[likely]]
    return;
  if (Tomb* const tomb = take_handed_off(readers, &slot, cell)) delete_handed_off(readers, *tomb);
}

// (L7) Looks for all holders of an attachment, and tells each that it was found. Returns the cell
// of one, or null. *sole: there is no other.
[[gnu::noinline]] Announcement* tell_holders(const Readers& readers, const Pair* slot, uint64_t m,
                                             bool* sole);

// Gives up what copy_fns up this thread's stack hold of an attachment. At its end each copy still
// looks for what was handed off to it (L4), because a deleter may have looked before.
[[gnu::noinline]] void give_up_copies_of(const ThreadState& thread, const Table& table,
                                         const Pair& slot, uint64_t m);

// A delete, or a set over a value with a delete_fn.
class Deletion {
 public:
  explicit Deletion(Readers& readers) : readers_(readers) {}
  ~Deletion() {
    if (cell_ != nullptr) readers_.release(*cell_);
  }
  Deletion(const Deletion&) = delete;
  Deletion& operator=(const Deletion&) = delete;

  // Call this before the value found in the slot is taken out of it (S6) or claimed (S8), and again
  // if that fails. Announces, for as long as this object lives, that this thread will touch the
  // table, and reserves a tomb if anybody may hold the value. False: out of memory.
  [[gnu::always_inline]] bool prepare(const Table& table, SlotContent found) {
    if (cell_ == nullptr) {
      cell_ = readers_.take(Announcement::of(&table, Says::kDeletes));
      if (cell_ == nullptr) return false;
    }
    return !meta::was_held(found.meta) || readers_.reserve_tomb();
  }
  // Call this afterwards. True: others hold the value, or did, so the deletion is handed off to
  // them, or done, and the value's reference on the keyval is gone. The claim is then ended, and
  // the table must not be touched any more. The calling thread's own copies of the value, up its
  // stack, are given up: a copy_fn that deletes or replaces what it copies won't read it any more.
  [[gnu::always_inline]] bool hand_off(const Target& target, const ThreadState& thread, Pair& slot,
                                       id::Keyval keyval, SlotContent found, slot::Claim* claim) {
    const uint64_t m = found.meta;
    if (!meta::was_held(m)) return false;
    AsymmetricFence::heavy_fence(readers_of(m));
    bool sole = false;
    Announcement* holder = tell_holders(readers_, &slot, m, &sole);
    if (holder == nullptr) [[likely]]
      return false;
    if (thread.innermost != nullptr) {  // the holder may be this thread
      give_up_copies_of(thread, target.table, slot, m);
      holder = tell_holders(readers_, &slot, m, &sole);
      if (holder == nullptr) return false;
    }
    const Target copy = target;  // in memory only here
    hand_off_to(*holder, sole, copy, slot, keyval, found, claim, *cell_);
    cell_ = nullptr;
    return true;
  }

  // The cell in which the deletion is announced.
  Announcement* cell() const { return cell_; }

 private:
  [[gnu::noinline]] static void hand_off_to(Announcement& holder, bool sole, const Target& target,
                                            Pair& slot, id::Keyval keyval, SlotContent found,
                                            slot::Claim* claim, Announcement& cell);

  Readers& readers_;
  Announcement* cell_ = nullptr;
};

// Whether another thread is within a deletion that will touch the table.
bool others_delete_in(const Readers& readers, const Table& table);

// A free hands off no deletion, so it must know whether anybody holds a value that it has claimed.
// This thread's own copies are given up first, as above. It looks through the cells once for all
// values, because no other thread may begin to hold a value of an object that is being
// freed.
class HeldByOthers {
 public:
  explicit HeldByOthers(const Target& target) : target_(target) {}
  bool operator()(const Pair& slot, uint64_t m);

 private:
  static constexpr unsigned kSlots = 512;
  static unsigned bit(const Pair* slot) {
    return static_cast<unsigned>(reinterpret_cast<uintptr_t>(slot) / sizeof(Pair) % kSlots);
  }
  void look(AsymmetricFence::Of readers);

  const Target& target_;
  bool looked_ = false;
  bool looked_for_light_ = false;
  uint64_t slots_[kSlots / 64];  // by hash: the slots of which anybody holds a value
};

// How many holders an attachment has. While holds begin or end, some may be counted again.
unsigned count_holders(const Readers& readers, const Pair& slot, uint64_t m);

// Gives up the holds of copy_fns up this thread's stack, and runs the delete_fns of a table's
// values that were handed off to those. True: others still have one.
bool finish_own_handed_off(Readers& readers, const Table& table);

// Whether a deletion in the table is handed off and not over; those that the thread `but` has taken
// don't count.
bool any_tomb_of(const Readers& readers, const Table& table, uint64_t but);

// Gives up the deletions in a table that were handed off: drops their references, calls no
// delete_fn. False: there were none. Else destructors may have run, and others been handed off.
bool abandon_handed_off(Readers& readers, const Table& table);

// Notes that the table is gone, in the tombs that this thread has taken further up its stack.
void forget_table(const Readers& readers, const Table& table);

// Runs all deletions that are handed off, because the domain ends; all borrows must have ended
// before.
void end_all_handed_off(Readers& readers);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_HAND_OFF_H_
