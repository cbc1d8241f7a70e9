// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Holding a value: borrow and give_back, and the same for the time of a copy_fn. While a value is
// held, its delete_fn does not start.

#ifndef ATTRCACHE_TABLE_HOLD_H_
#define ATTRCACHE_TABLE_HOLD_H_

#include <cstdint>

#include "callback/frame.h"
#include "callback/language.h"
#include "keyval/registry.h"
#include "table/attribute.h"
#include "table/slot.h"
#include "table/table.h"

namespace attrcache {

// A value that is held.
struct Hold {
  Announcement* cell;
  SlotContent content;
};

// Holds the value under `keyval` in a slot, whatever is there. If a replacing set is under way, it
// waits for the set to end. Returns OK; ABSENT, also if a deletion has begun; ERR_DELETING, if the
// replacing set is up the caller's own stack; ERR_DEADLOCK, if the set waits for the caller, be it
// through others; or ERR_MEMORY. `says` is kBorrows or kCopies; `more` goes into the announcement.
int hold_value(const Target& target, Pair& slot, uint32_t keyval, Says says, uint64_t more,
               Hold* hold);

// Holds a value in the usual case: it is attached and known to be read. `m` is what was read of the
// slot before. False: hold_value() is to be asked; `cell` isn't null if it has announced in vain.
[[gnu::always_inline]] inline bool hold_at_once(Readers& readers, Pair& slot, uint64_t m, Says says,
                                                uint64_t more, Hold* hold) {
  constexpr uint64_t kUsual = meta::kVisible | meta::kDeleting | meta::kRead;
  hold->cell = nullptr;
  if ((m & kUsual) != (meta::kVisible | meta::kRead)) [[unlikely]]
    return false;
  hold->cell = readers.take();
  if (hold->cell == nullptr) [[unlikely]]
    return false;
  hold->cell->more.store(more, kRelaxed);
  readers.announce(*hold->cell, slot, says, m);
  hold->content = slot.load();
  return hold->content.meta == m;
}

// Whether the calling thread has borrowed the value in a slot. `m`: what was read of the slot.
bool has_borrowed(const Readers& readers, const Pair& slot, uint64_t m);

// What is inside an attrcache_borrowed. All-zero bytes hold nothing.
struct Borrowed {
  void* value;
  Announcement* cell;  // null: it holds nothing
  Readers* readers;    // whose it is, unless it is its record's first
};
static_assert(sizeof(Borrowed) <= sizeof(attrcache_borrowed));

[[gnu::noinline]] int borrow_attribute(Registry& registry, Table& table, uint32_t keyval,
                                       Borrowed* borrowed);
[[gnu::noinline]] int retry_borrow(Registry& registry, Table& table, uint32_t keyval,
                                   Borrowed* borrowed, Pair* slot);
[[gnu::noinline]] int give_back_attribute(Borrowed* borrowed);

// The usual borrow: of a C pointer that is known to be read, by a thread that has borrowed nothing
// else. All else takes the slow way.
[[gnu::always_inline]] inline int borrow_fast(Registry& registry, Table& table, uint32_t keyval,
                                              Borrowed* borrowed) {
  const auto slowly = [&]() __attribute__((always_inline)) {
    return borrow_attribute(registry, table, keyval, borrowed);
  };
  const auto in_slot = [&](Pair * slot) __attribute__((always_inline)) {
    Announcement& cell = registry.readers().near_record().first;
    const uint64_t m = slot->load_meta();
    if (cell.what.load(kRelaxed) != 0 || borrowed->cell != nullptr ||
        !meta::readable(meta::upper(m), keyval)) [[unlikely]] {
      return slowly();
    }
    cell.meta.store(m, kRelaxed);
    cell.who.store(this_thread().identity, kRelaxed);
    cell.more.store(reinterpret_cast<uintptr_t>(borrowed), kRelaxed);
    AsymmetricFence::announce_light(cell.what, Announcement::of(slot, Says::kBorrows));
    const SlotContent now = slot->load();
    if (now.meta != m) [[unlikely]]
      return retry_borrow(registry, table, keyval, borrowed, slot);
    borrowed->value = as_pointer(now.value);
    borrowed->cell = &cell;
    return int{ATTRCACHE_OK};
  };
  return table.at_offset(id::slot_offset(keyval), in_slot, in_slot, slowly);
}

[[gnu::always_inline]] inline int give_back_fast(Borrowed* borrowed) {
  Announcement* const cell = borrowed->cell;
  if (cell == nullptr || cell->more.load(kRelaxed) != reinterpret_cast<uintptr_t>(borrowed) ||
      cell->who.load(kRelaxed) != this_thread().identity) [[unlikely]] {
    return give_back_attribute(borrowed);
  }
  const uintptr_t what = cell->what.load(kRelaxed);
  borrowed->cell = nullptr;
  AsymmetricFence::announce_light(cell->what, uintptr_t{0});
  ThreadRecord::of_first(*cell).readers->tell_of_withdrawal(*Announcement::slot(what));
  return ATTRCACHE_OK;
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_HOLD_H_
