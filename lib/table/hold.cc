// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/hold.h"

#include "table/hand_off.h"
#include "table/meta.h"

namespace attrcache {

namespace {

// How a cell names its attrcache_borrowed (Announcement::borrowed), unless borrow_first() has taken
// it: by the address, with a bit that distinguishes the two.
uint64_t mark_of(const Borrowed* borrowed) { return reinterpret_cast<uintptr_t>(borrowed) | 1; }

// Whether `borrowed` holds something that the calling thread has borrowed in this domain.
[[gnu::noinline, gnu::cold]] bool in_use(const Readers& readers, const Borrowed* borrowed) {
  const uint64_t me = readers.threads().identity();
  return readers.any([&](Announcement& cell, uint64_t) {
    return (cell.borrowed.load(kRelaxed) | 1) == mark_of(borrowed) &&
           cell.thread.load(kRelaxed) == me;
  });
}

// Borrows a predefined attribute, by the number of its keyval. There is nothing to keep alive, so
// the cell goes on saying kTaken.
[[gnu::noinline, gnu::cold]] int borrow_predefined(Registry& registry, Table& table,
                                                   id::Keyval keyval, Borrowed* borrowed) {
  Seen value;
  const int result = get_attribute(registry, table, keyval, &value);
  if (result != ATTRCACHE_OK) return result;
  Readers& readers = registry.readers();
  Announcement* const cell = readers.take();
  if (cell == nullptr) return ATTRCACHE_ERR_MEMORY;
  cell->borrowed.store(mark_of(borrowed), kRelaxed);
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
[[gnu::noinline]] int count_full_borrow(Readers& readers, Pair& slot, uint64_t held) {
  ThreadRecord* const record = readers.mine();
  if (record != nullptr && ++record->full_borrows % kBorrowsForALightOne == 0 &&
      readers.fence().ready())
    slot::lighten(slot, held);  // (S5)
  return ATTRCACHE_OK;
}

// Releases the cell, and says why a borrow finds nothing; or borrows a predefined attribute.
[[gnu::noinline]] int find_none(Registry& registry, Table& table, id::Keyval keyval,
                                Borrowed* borrowed, Announcement& cell) {
  registry.readers().release(cell);
  if (registry.look_up(keyval) != 0) return ATTRCACHE_ABSENT;
  return id::well_formed(keyval) ? registry.why_not(keyval)
                                 : borrow_predefined(registry, table, keyval, borrowed);
}

// Ends a borrow that holds the value whose meta is `m`.
[[gnu::always_inline]] inline int keep(Readers& readers, Borrowed* borrowed, Pair& slot, uint64_t m,
                                       Announcement& cell) {
  const uint64_t bits = borrowed->copy;
  *borrowed = {seen_by_c(bits, &borrowed->copy, meta::tag(m)), &cell, &readers, bits};
  cell.borrowed.store(mark_of(borrowed), kRelaxed);
  if ((m & meta::kUnheld) == 0 && !meta::light(m)) return count_full_borrow(readers, slot, m);
  return ATTRCACHE_OK;
}

}  // namespace

// Each round lets go of the attempt before it, and runs the deletion that was handed off to that.
int continue_borrow(Registry& registry, Table& table, id::Keyval keyval, Borrowed* borrowed,
                    Pair& slot, Announcement& cell) {
  Readers& readers = registry.readers();
  Frame frame(readers.threads().self(), &table);
  for (;;) {
    let_go(readers, slot, cell, false);
    if (frame.table_died) break;
    if (borrowed->holds() && in_use(readers, borrowed)) {  // a callback has borrowed into it
      readers.release(cell);
      return ATTRCACHE_ERR_ARGUMENT;
    }
    const uint64_t m = slot.load_meta();
    if (!meta::holdable(m, keyval)) return find_none(registry, table, keyval, borrowed, cell);
    if (hold_found(slot, m, Says::kBorrows, cell, &borrowed->copy)) [[likely]]
      return keep(readers, borrowed, slot, m, cell);
  }
  readers.release(cell);
  return ATTRCACHE_ERR_FREED;
}

int borrow_attribute(Registry& registry, Table& table, id::Keyval keyval, Borrowed* borrowed,
                     Pair* slot) {
  Readers& readers = registry.readers();
  // Borrowing into a Borrowed still in use would lose its value.
  if (borrowed->holds() && in_use(readers, borrowed)) [[unlikely]]
    return ATTRCACHE_ERR_ARGUMENT;
  Announcement* const cell = readers.take();
  if (cell == nullptr) return ATTRCACHE_ERR_MEMORY;
  const uint64_t m = slot != nullptr ? slot->load_meta() : 0;
  if (slot == nullptr || !meta::holdable(m, keyval)) [[unlikely]]
    return find_none(registry, table, keyval, borrowed, *cell);
  if (!hold_found(*slot, m, Says::kBorrows, *cell, &borrowed->copy)) [[unlikely]]
    return continue_borrow(registry, table, keyval, borrowed, *slot, *cell);
  return keep(readers, borrowed, *slot, m, *cell);
}

namespace {

// Gives back what the calling thread has borrowed by a cell that says `what`. For a predefined
// attribute that is kTaken, so there is no slot, and no tomb of it.
[[gnu::always_inline]] inline int give_back_own(Readers& readers, Borrowed* borrowed,
                                                uint64_t what) {
  Announcement& cell = *borrowed->cell;
  borrowed->cell = nullptr;
  const Pair* const slot = Announcement::slot(what);
  if (retract_hold(cell)) [[unlikely]]
    return end_give_back(cell, slot, readers);
  readers.release(cell);
  return ATTRCACHE_OK;
}

[[gnu::noinline, gnu::cold]] int give_back_of_user_level(Readers& readers, Borrowed* borrowed,
                                                         uint64_t what) {
  if (borrowed->cell->thread.load(kRelaxed) != readers.threads().identity())
    return ATTRCACHE_ERR_THREAD;
  return give_back_own(readers, borrowed, what);
}

}  // namespace

int give_back_attribute(Borrowed* borrowed) {
  const Announcement* const cell = borrowed->cell;
  const uint64_t keeps = cell->borrowed.load(kRelaxed);
  const uint64_t what = cell->what.load(kRelaxed);
  if (keeps != mark_of(borrowed) || Announcement::is_free(what)) [[unlikely]] {
    // Borrowed by borrow_first() on another thread; else given back, or a copy of a Borrowed.
    return keeps == reinterpret_cast<uintptr_t>(borrowed) ? ATTRCACHE_ERR_THREAD
                                                          : ATTRCACHE_ERR_ARGUMENT;
  }
  Readers& readers = *borrowed->readers;
  if (cell->thread.load(kRelaxed) != this_thread().identity) [[unlikely]]
    return give_back_of_user_level(readers, borrowed, what);
  return give_back_own(readers, borrowed, what);
}

int end_give_back(Announcement& cell, const Pair* slot, Readers& readers) {
  // The cell is this thread's, which has announced nothing else since.
  Tomb* const tomb = take_handed_off(readers, slot, cell);
  readers.release(cell);
  if (tomb != nullptr) delete_handed_off(readers, *tomb);
  return ATTRCACHE_OK;
}

}  // namespace attrcache
