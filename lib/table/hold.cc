// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/hold.h"

#include "table/get.h"
#include "table/hand_off.h"
#include "table/meta.h"

namespace attrcache {

namespace {

// How a cell that the slow path uses names its attrcache_borrowed (Announcement::more): by its
// address, with a bit that distinguishes it from cells of the fast path.
uint64_t mark_of(const Borrowed* borrowed) { return reinterpret_cast<uintptr_t>(borrowed) | 1; }

// Whether `borrowed` holds something that the calling thread has borrowed in this domain.
[[gnu::noinline, gnu::cold]] bool in_use(const Readers& readers, const Borrowed* borrowed) {
  const uint64_t me = readers.threads().identity();
  return readers.any([&](Announcement& cell, uintptr_t what) {
    const Says says = Announcement::says(what);
    if (says != Says::kBorrows && says != Says::kTaken) return false;
    return (cell.more.load(kRelaxed) | 1) == mark_of(borrowed) && cell.thread.load(kRelaxed) == me;
  });
}

// Borrows a predefined attribute, by the number of its keyval. There is nothing to keep alive, so
// the cell goes on saying kTaken.
[[gnu::noinline, gnu::cold]] int borrow_predefined(Registry& registry, Table& table,
                                                   id::Keyval keyval, Borrowed* borrowed) {
  PredefinedValue value;
  const int result = get_predefined(registry, table, registry.number_of(keyval), &value);
  if (result != ATTRCACHE_OK) return result;
  Readers& readers = registry.readers();
  Announcement* const cell = readers.take();
  if (cell == nullptr) return ATTRCACHE_ERR_MEMORY;
  cell->more.store(mark_of(borrowed), kRelaxed);
  *borrowed = {value.in_c, cell, &readers, 0};
  return ATTRCACHE_OK;
}

// Makes a value light that the calling thread has just borrowed as a full reader, after some such
// borrows of values that were held before: who deletes it pays for a fence of the kernel. So a
// thread that borrows each value once, or a few times, before it is replaced, causes none, and a
// value that stays becomes light in the end, however many others are borrowed in between. Counting
// in the thread's own record writes nothing that others read.
#ifdef ATTRCACHE_MODEL
constexpr uint64_t kBorrowsForALightOne = 2;
#else
constexpr uint64_t kBorrowsForALightOne = 32;
#endif
[[gnu::noinline]] void count_full_borrow(Readers& readers, Pair& slot, uint64_t held) {
  ThreadRecord* const record = readers.mine();
  if (record == nullptr || ++record->full_borrows % kBorrowsForALightOne != 0) return;
  if (readers.fence().ready()) slot::lighten(slot, held);  // (S5)
}

// Releases the cell, and says why a borrow finds nothing; or borrows a predefined attribute.
[[gnu::noinline]] int find_none(Registry& registry, Table& table, id::Keyval keyval,
                                Borrowed* borrowed, Announcement& cell) {
  registry.readers().release(cell);
  if (registry.look_up(keyval) != 0) return ATTRCACHE_ABSENT;
  return id::well_formed(keyval) ? registry.why_not(keyval)
                                 : borrow_predefined(registry, table, keyval, borrowed);
}

// One round of a borrow. kNotHeld: the cell now announces an attempt that has failed. (No result of
// the API.)
constexpr int kNotHeld = 1000;
[[gnu::always_inline]] inline int borrow_once(Registry& registry, Table& table, id::Keyval keyval,
                                              Borrowed* borrowed, Pair* slot, Announcement& cell) {
  const uint64_t m = slot != nullptr ? slot->load_meta() : 0;
  if (slot == nullptr || !meta::holdable(m, keyval)) [[unlikely]]
    return find_none(registry, table, keyval, borrowed, cell);
  if (!hold_found(*slot, m, Says::kBorrows, cell, &borrowed->copy)) [[unlikely]]
    return kNotHeld;
  Readers& readers = registry.readers();
  borrowed->value = seen_by_c(borrowed->copy, &borrowed->copy, meta::tag(m));
  borrowed->cell = &cell;
  borrowed->readers = &readers;
  cell.more.store(mark_of(borrowed), kRelaxed);
  if (!meta::light(m) && (m & meta::kUnheld) == 0) count_full_borrow(readers, *slot, m);
  return ATTRCACHE_OK;
}

}  // namespace

// Each round lets go of the attempt before it. What that takes is deleted at the end, since the table
// may die within delete_fn.
int continue_borrow(Registry& registry, Table& table, id::Keyval keyval, Borrowed* borrowed,
                    Pair* slot, Announcement* cell) {
  Readers& readers = registry.readers();
  Tomb* left = nullptr;
  int result;
  do {
    Tomb* const taken = let_go(readers, *slot, *cell);
    if (taken != nullptr) {
      taken->taken_before = left;
      left = taken;
    }
    result = borrow_once(registry, table, keyval, borrowed, slot, *cell);
  } while (result == kNotHeld);
  while (left != nullptr) {
    Tomb& tomb = *left;
    left = tomb.taken_before;
    delete_handed_off(readers, tomb);
  }
  return result;
}

int borrow_attribute(Registry& registry, Table& table, id::Keyval keyval, Borrowed* borrowed,
                     Pair* slot, Announcement* cell) {
  if (cell == nullptr) {
    Readers& readers = registry.readers();
    // Borrowing into a Borrowed still in use would lose its value.
    if (borrowed->holds() && in_use(readers, borrowed)) [[unlikely]]
      return ATTRCACHE_ERR_ARGUMENT;
    if ((cell = readers.take()) == nullptr) return ATTRCACHE_ERR_MEMORY;
  }
  const int result = borrow_once(registry, table, keyval, borrowed, slot, *cell);
  if (result != kNotHeld) [[likely]]
    return result;
  return continue_borrow(registry, table, keyval, borrowed, slot, cell);
}

namespace {

// Gives back what the calling thread has borrowed.
[[gnu::always_inline]] inline int give_back_own(Readers& readers, Borrowed* borrowed) {
  Announcement& cell = *borrowed->cell;
  borrowed->cell = nullptr;
  const uintptr_t what = cell.what.load(kRelaxed);
  const Pair* const slot = Announcement::slot(what);
  const uintptr_t then = &cell == &readers.near_record().first ? 0 : uintptr_t(Says::kTaken);
  // Of a predefined attribute, nothing is announced.
  if (Announcement::is_about_any(what) && retract_hold(readers, *slot, cell, then)) [[unlikely]]
    return end_give_back(readers, slot, cell);
  if (cell.what.load(kRelaxed) != 0) readers.release(cell);
  return ATTRCACHE_OK;
}

[[gnu::noinline, gnu::cold]] int give_back_of_user_level(Readers& readers, Borrowed* borrowed) {
  if (borrowed->cell->thread.load(kRelaxed) != readers.threads().identity())
    return ATTRCACHE_ERR_THREAD;
  return give_back_own(readers, borrowed);
}

}  // namespace

int give_back_attribute(Borrowed* borrowed) {
  const Announcement* const cell = borrowed->cell;
  if (cell == nullptr) return ATTRCACHE_ERR_ARGUMENT;
  const uint64_t keeps = cell->more.load(kRelaxed);
  // Borrowed by the fast path, by which its own thread would have given it back.
  if (keeps == reinterpret_cast<uintptr_t>(borrowed)) return ATTRCACHE_ERR_THREAD;
  // Else given back, or a copy of a Borrowed.
  if (keeps != mark_of(borrowed) || cell->what.load(kRelaxed) == 0) return ATTRCACHE_ERR_ARGUMENT;
  Readers& readers = *borrowed->readers;
  if (cell->thread.load(kRelaxed) != this_thread().identity) [[unlikely]]
    return give_back_of_user_level(readers, borrowed);
  return give_back_own(readers, borrowed);
}

int end_give_back(Readers& readers, const Pair* slot, Announcement& cell) {
  // The cell is this thread's, which has announced nothing else since.
  Tomb* const left = take_handed_off(readers, slot, cell.meta.load(kRelaxed));
  if (cell.what.load(kRelaxed) != 0) readers.release(cell);
  if (left != nullptr) delete_handed_off(readers, *left);
  return ATTRCACHE_OK;
}

}  // namespace attrcache
