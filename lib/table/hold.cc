// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/hold.h"

#include "table/get.h"
#include "table/left.h"
#include "table/meta.h"

namespace attrcache {

bool hold_value(Readers& readers, Pair& slot, id::Keyval keyval, Says says, Announcement& cell,
                SlotContent* held) {
  SlotContent now = slot.load();
  // A claim begins a deletion: from then on there is nothing to hold.
  while (meta::belongs(now.meta, keyval) && meta::visible(now.meta) && !meta::deleting(now.meta)) {
    readers.announce(cell, slot, says, now.meta);  // (L1)
    if ((now.meta & meta::kUnread) != 0) {
      if (slot::read(slot, now)) {  // (S4)
        *held = now;
        return true;
      }
      continue;
    }
    const SlotContent again = slot.load();  // (L2)
    if (again.meta == now.meta) {
      *held = again;
      return true;
    }
    now = again;
  }
  return false;
}

namespace {

// How a cell that the slow path uses names its attrcache_borrowed (Announcement::more): by its
// address, with a bit that distinguishes it from cells of the fast path.
uint64_t mark_of(const Borrowed* borrowed) { return reinterpret_cast<uintptr_t>(borrowed) | 1; }

// Whether `borrowed` holds something that the calling thread has borrowed in this domain.
bool in_use(const Readers& readers, const Borrowed* borrowed) {
  const uint64_t me = readers.threads().identity();
  return readers.any([&](Announcement& cell, uintptr_t what) {
    const Says says = Announcement::says(what);
    if (says != Says::kBorrows && says != Says::kGivenUp) return false;
    return (cell.more.load(kRelaxed) | 1) == mark_of(borrowed) && cell.thread.load(kRelaxed) == me;
  });
}

// Borrows a predefined attribute, by the number of its keyval.
[[gnu::noinline, gnu::cold]] int borrow_predefined(Registry& registry, Table& table,
                                                   id::Keyval keyval, Borrowed* borrowed) {
  PredefinedValue value;
  const int result = get_predefined(registry, table, registry.number_of(keyval), &value);
  if (result != ATTRCACHE_OK) return result;
  Readers& readers = registry.readers();
  Announcement* const cell = readers.take();
  if (cell == nullptr) return ATTRCACHE_ERR_MEMORY;
  cell->more.store(mark_of(borrowed), kRelaxed);
  cell->what.store(uintptr_t(Says::kGivenUp), kRelease);  // nothing to keep alive
  *borrowed = {value.in_c, cell, &readers, 0};
  return ATTRCACHE_OK;
}

void keep(Readers& readers, Announcement& cell, SlotContent held, Borrowed* borrowed) {
  *borrowed = {nullptr, &cell, &readers, held.value};
  borrowed->value = seen_by_c(held.value, &borrowed->copy, meta::tag(held.meta));
}

[[gnu::noinline]] int borrow_slowly(Registry& registry, Table& table, id::Keyval keyval,
                                    Borrowed* borrowed) {
  Readers& readers = registry.readers();
  // Borrowing into a Borrowed still in use would lose its value.
  if (borrowed->holds() && in_use(readers, borrowed)) return ATTRCACHE_ERR_ARGUMENT;
  if (registry.look_up(keyval) == 0) {
    return id::well_formed(keyval) ? registry.why_not(keyval)
                                   : borrow_predefined(registry, table, keyval, borrowed);
  }
  Pair* const slot = table.find(id::index(keyval));
  if (slot == nullptr) return ATTRCACHE_ABSENT;
  Announcement* const cell = readers.take();
  if (cell == nullptr) {
    end_left(readers, slot);  // as below
    return ATTRCACHE_ERR_MEMORY;
  }
  cell->more.store(mark_of(borrowed), kRelaxed);
  SlotContent held;
  const bool holds = hold_value(readers, *slot, keyval, Says::kBorrows, *cell, &held);
  if (holds) {
    keep(readers, *cell, held, borrowed);
  } else {
    readers.release(*cell);
  }
  end_left(readers, slot);  // failed attempts have looked like holders
  return holds ? ATTRCACHE_OK : ATTRCACHE_ABSENT;
}

}  // namespace

int retry_borrow(Registry& registry, Table& table, id::Keyval keyval, Borrowed* borrowed) {
  Readers::retract(registry.readers().near_record().first, 0);  // (L3)
  return borrow_slowly(registry, table, keyval, borrowed);
}

int borrow_attribute(Registry& registry, Table& table, id::Keyval keyval, Borrowed* borrowed) {
  // Other ints may look like an empty slot, or like a value of another tag.
  Pair* const slot = id::well_formed(keyval) ? table.find(id::index(keyval)) : nullptr;
  const uint64_t m = slot != nullptr ? slot->load_meta() : 0;
  if (!meta::readable(meta::upper(m), id::without_index(keyval)) || slot == nullptr ||
      borrowed->holds()) {
    return borrow_slowly(registry, table, keyval, borrowed);
  }
  Readers& readers = registry.readers();
  Announcement* const cell = readers.take();
  if (cell == nullptr) return ATTRCACHE_ERR_MEMORY;
  cell->more.store(mark_of(borrowed), kRelaxed);
  uint64_t value;
  readers.announce(*cell, *slot, Says::kBorrows, m);  // (L1)
  if (!slot->still(m, &value)) {                      // (L2)
    readers.release(*cell);                           // (L3)
    return borrow_slowly(registry, table, keyval, borrowed);
  }
  *borrowed = {as_pointer(value), cell, &readers, 0};
  return ATTRCACHE_OK;
}

int give_back_attribute(Borrowed* borrowed) {
  Announcement* const cell = borrowed->cell;
  if (cell == nullptr) return ATTRCACHE_ERR_ARGUMENT;
  const uint64_t keeps = cell->more.load(kRelaxed);
  // Borrowed by the fast path, by which its own thread would have given it back.
  if (keeps == reinterpret_cast<uintptr_t>(borrowed)) return ATTRCACHE_ERR_THREAD;
  // Else given back, or a copy of a Borrowed.
  if (keeps != mark_of(borrowed) || cell->what.load(kRelaxed) == 0) return ATTRCACHE_ERR_ARGUMENT;
  Readers& readers = *borrowed->readers;
  if (cell->thread.load(kRelaxed) != readers.threads().identity()) return ATTRCACHE_ERR_THREAD;
  borrowed->cell = nullptr;
  const uintptr_t what = cell->what.load(kRelaxed);
  readers.release(*cell);  // (L3)
  // Else its table was abandoned, or it is a predefined value.
  if (Announcement::is_about_any(what)) end_left(readers, Announcement::slot(what));
  return ATTRCACHE_OK;
}

}  // namespace attrcache
