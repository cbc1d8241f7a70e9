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
#include "table/get.h"
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
int hold_value(const Target& target, Pair& slot, id::Keyval keyval, Says says, uint64_t more,
               Hold* hold);

// Holds a value in the usual case: it is attached and known to be read. `m` is what was read of the
// slot before, `cell` one that was taken. False: hold_value() is to be asked, after what was
// announced was withdrawn.
[[gnu::always_inline]] inline bool hold_at_once(Readers& readers, Announcement& cell, Pair& slot,
                                                uint64_t m, Says says, SlotContent* content) {
  constexpr uint64_t kUsual = meta::kVisible | meta::kDeleting | meta::kRead;
  if ((m & kUsual) != (meta::kVisible | meta::kRead)) [[unlikely]]
    return false;
  readers.announce(cell, slot, says, m);
  content->meta = m;
  return slot.still(m, &content->value);
}

// Whether the calling thread has borrowed the value in a slot. `m`: what was read of the slot.
bool has_borrowed(const Readers& readers, const Pair& slot, uint64_t m);

// What is inside an attrcache_borrowed. All-zero bytes hold nothing.
struct Borrowed {
  void* value;
  Announcement* cell;  // that announces it; null if it holds nothing
  Readers* readers;    // whose that is, unless it is the first of a record

  bool holds() const { return cell != nullptr; }
};
static_assert(sizeof(Borrowed) <= sizeof(attrcache_borrowed));

[[gnu::noinline]] int borrow_attribute(Registry& registry, Table& table, id::Keyval keyval,
                                       Borrowed* borrowed);
[[gnu::noinline]] int retry_borrow(Registry& registry, Table& table, id::Keyval keyval,
                                   Borrowed* borrowed, Pair* slot);
[[gnu::noinline]] int give_back_attribute(Borrowed* borrowed);

// The usual borrow: of a C pointer that is known to be read, by a thread that has borrowed nothing
// else. All else takes the slow way. `like` is the keyval as meta::readable() takes it.
template <AsymmetricFence::Of kReaders, typename Slowly>
[[gnu::always_inline]] inline int borrow_first(Registry& registry, Table& table, id::Keyval keyval,
                                               Borrowed* borrowed, Pair* slot, id::Keyval like,
                                               Slowly slowly) {
  const uint64_t m = slot->load_meta();
  if (!meta::readable(meta::upper(m), like)) [[unlikely]]
    return slowly();
  Announcement& cell = kReaders == AsymmetricFence::Of::kLight
                           ? registry.light_cell()
                           : registry.readers().near_record().first;
  // One branch for both: that the cell is free, and that *borrowed holds nothing.
  if ((cell.what.load(kRelaxed) | reinterpret_cast<uintptr_t>(borrowed->cell)) != 0) [[unlikely]]
    return slowly();
  cell.meta.store(m, kRelease);  // (F3)
  cell.who.store(this_thread().identity, kRelaxed);
  cell.more.store(reinterpret_cast<uintptr_t>(borrowed), kRelaxed);
  AsymmetricFence::announce<kReaders>(cell.what, Announcement::of(slot, Says::kBorrows));
  uint64_t value;
  if (!slot->still(m, &value)) [[unlikely]]
    return retry_borrow(registry, table, keyval, borrowed, slot);
  borrowed->value = as_pointer(value);
  borrowed->cell = &cell;
  return int{ATTRCACHE_OK};
}

// The same, wherever the slot is.
template <AsymmetricFence::Of kReaders, typename Slowly>
[[gnu::always_inline]] inline int borrow_first(Registry& registry, Table& table, id::Keyval keyval,
                                               Borrowed* borrowed, Slowly slowly) {
  const auto in_slot = [&](Pair * slot) __attribute__((always_inline)) {
    return borrow_first<kReaders>(registry, table, keyval, borrowed, slot,
                                  id::without_index(keyval), slowly);
  };
  return table.at_offset(id::slot_offset(keyval), in_slot, in_slot, slowly);
}

// Goes on with a borrow whose slot isn't in the table itself. It is a function of its own, so that
// the others need not keep the offset.
[[gnu::noinline]] inline int borrow_beyond(Registry& registry, Table& table, id::Keyval keyval,
                                           Borrowed* borrowed) {
  // The caller has seen that already.
  if (id::bytes(id::slot_offset(keyval)) < kInlineSlots << id::kIndexShift) __builtin_unreachable();
  return borrow_first<AsymmetricFence::Of::kLight>(
      registry, table, keyval, borrowed, [&]() __attribute__((always_inline)) {
        return borrow_attribute(registry, table, keyval, borrowed);
      });
}

// attrcache_borrow and attrcache_give_back, to be inlined.
[[gnu::always_inline]] inline int borrow(attrcache_kind* kind, attrcache_table* table, int keyval,
                                         attrcache_borrowed* into) {
  if (kind == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  asm("");  // or the compiler makes one branch of the three, with more instructions
  if (table == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  asm("");
  if (into == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  Registry& registry = Registry::of(kind);
  const id::Keyval key = registry.keyval_of(keyval);
  auto* const borrowed = reinterpret_cast<Borrowed*>(into);
  // opaque, or the compiler would copy it, to have it with 32 and with 64 bits.
  const uint64_t offset = opaque(uint64_t{id::bytes(id::slot_offset(key))});
  if (offset >= kInlineSlots << id::kIndexShift) [[unlikely]]
    return borrow_beyond(registry, Table::of(table), key, borrowed);
  static_assert(kInlineSlots <= meta::kReadableIndices);
  return borrow_first<AsymmetricFence::Of::kLight>(
      registry, Table::of(table), key, borrowed, Table::of(table).inline_slot(offset),
      key, [&]() __attribute__((always_inline)) {
        return borrow_attribute(registry, Table::of(table), key, borrowed);
      });
}

[[gnu::always_inline]] inline int give_back(attrcache_borrowed* given_back) {
  if (given_back == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  auto* const borrowed = reinterpret_cast<Borrowed*>(given_back);
  if (!borrowed->holds()) [[unlikely]]
    return give_back_attribute(borrowed);
  Announcement& cell = *borrowed->cell;
  if (!cell.more.equals_relaxed(reinterpret_cast<uintptr_t>(borrowed)) ||
      cell.who.load(kRelaxed) != this_thread().identity) [[unlikely]] {
    return give_back_attribute(borrowed);
  }
  const uintptr_t what = cell.what.load(kRelaxed);
  borrowed->cell = nullptr;
  Readers::retract(cell, 0);
  ThreadRecord::of_first(cell).readers->tell_of_withdrawal(*Announcement::slot(what));
  return ATTRCACHE_OK;
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_HOLD_H_
