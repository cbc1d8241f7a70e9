// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Holding a value: borrow and give_back, and the same for the time of a copy_fn. While a value is
// held, its delete_fn doesn't start. (The steps L1 to L4 are in readers/tomb.h.)
//
// A thread holds a value as a full reader, with full fences of its own, unless the value is light:
// values that are borrowed often are (S5). Then a borrow costs plain stores and loads, but the
// thread that deletes or replaces the value needs a fence by the kernel (asymmetric_fence.h). So a
// process that never borrows never needs that; elsewhere many borrows pay for one.

#ifndef ATTRCACHE_TABLE_HOLD_H_
#define ATTRCACHE_TABLE_HOLD_H_

#include <cstdint>

#include "callback/language.h"
#include "keyval/registry.h"
#include "table/hand_off.h"
#include "table/slot.h"
#include "table/table.h"

namespace attrcache {

// Tries once to hold an attachment that was found in a slot (meta::holdable()), by an announcement
// in `cell`, which the caller has taken. False: the slot has changed meanwhile, and the caller must
// let go of its attempt before it tries again. Wait-free.
inline bool hold_found(Pair& slot, uint64_t m, Says says, Announcement& cell, uint64_t* value) {
  Readers::announce(cell, slot, says, m);  // (L1)
  if ((m & meta::kUnheld) != 0) {
    SlotContent now = slot.load();
    *value = now.value;
    return now.meta == m && slot::hold(slot, now);  // (S4)
  }
  if (!meta::light(m)) full_fence();
  return slot.still(m, value);  // (L2)
}

// What is inside an attrcache_borrowed. All-zero bytes hold nothing.
struct Borrowed {
  void* value;
  Announcement* cell;  // the cell that announces it; null if this holds nothing
  Readers* readers;    // whose cell it is; not set by borrow_first()
  uint64_t copy;       // of a value that C reads at its address

  bool holds() const { return cell != nullptr; }
};
static_assert(sizeof(Borrowed) <= sizeof(attrcache_borrowed));

// Does the whole borrow. `slot` is the keyval's, or null.
[[gnu::noinline]] int borrow_attribute(Registry& registry, Table& table, id::Keyval keyval,
                                       Borrowed* borrowed, Pair* slot);
// Goes on with a borrow. The cell announces an attempt on the slot that has failed.
[[gnu::noinline, gnu::cold]] int continue_borrow(Registry& registry, Table& table,
                                                 id::Keyval keyval, Borrowed* borrowed, Pair& slot,
                                                 Announcement& cell);
// Does the whole give_back, of a Borrowed that holds something.
[[gnu::noinline]] int give_back_attribute(Borrowed* borrowed);
// Ends a give_back: runs the deletion of the attachment that the cell has announced, if it was
// handed off to this thread, and releases the cell.
[[gnu::noinline, gnu::cold]] int end_give_back(Announcement& cell, const Pair* slot,
                                               Readers& readers);

// The usual borrow: of a C pointer that is light, by a thread that has borrowed nothing else; all
// else takes borrow_attribute(). `like` is the keyval with an index that meta::readable() allows.
[[gnu::always_inline]] inline int borrow_first(Registry& registry, Table& table, id::Keyval keyval,
                                               Borrowed* borrowed, Pair& slot, id::Keyval like) {
  const auto held = reinterpret_cast<uintptr_t>(borrowed->cell);  // before an atomic
  Announcement& cell = registry.first_cell();
  // One branch for all: that the cell is free for this thread, and that *borrowed holds nothing.
  if (((cell.what.load(kRelaxed) ^ this_thread().identity) | held) != 0) [[unlikely]]
    return borrow_attribute(registry, table, keyval, borrowed, &slot);
  const uint64_t m = slot.load_meta();
  // It takes the keyval's register: code off the usual path computes the keyval again.
  uint32_t differs = meta::lower(m) ^ id::bits(like);
  const auto again = [&] {
    asm("" : "+r"(differs));  // or the compiler would do that for both callers at once, here
    return id::Keyval{differs ^ meta::lower(m) ^ id::bits(like) ^ id::bits(keyval)};
  };
  asm("" : "+r"(differs));
  if (!meta::readable(differs)) [[unlikely]]
    return borrow_attribute(registry, table, again(), borrowed, &slot);
  cell.borrowed.store(reinterpret_cast<uintptr_t>(borrowed), kRelaxed);
  Readers::announce(cell, slot, Says::kBorrows, m);  // (L1)
  uint64_t value;
  if (!slot.still(m, &value)) [[unlikely]]  // (L2)
    return continue_borrow(registry, table, again(), borrowed, slot, cell);
  borrowed->value = as_pointer(value);
  borrowed->cell = &cell;
  return int{ATTRCACHE_OK};
}

// Goes on with a borrow whose slot isn't in the table itself. It is a function of its own, so that
// the others need not keep the offset.
[[gnu::noinline]] inline int borrow_beyond(Registry& registry, Table& table, id::Keyval keyval,
                                           Borrowed* borrowed) {
  // The caller has checked that already.
  if (id::bytes(id::slot_offset(keyval)) < kInlineSlots << id::kIndexShift) __builtin_unreachable();
  Pair* const slot = table.at_offset(id::slot_offset(keyval));
  if (slot == nullptr) return borrow_attribute(registry, table, keyval, borrowed, nullptr);
  return borrow_first(registry, table, keyval, borrowed, *slot, id::without_index(keyval));
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
  uint64_t offset = id::bytes(id::slot_offset(key));
  asm("" : "+r"(offset));  // or the compiler would copy it, to have it with 32 and with 64 bits
  if (offset >= kInlineSlots << id::kIndexShift) [[unlikely]]
    return borrow_beyond(registry, Table::of(table), key, borrowed);
  static_assert(kInlineSlots <= meta::kReadableIndices);
  return borrow_first(registry, Table::of(table), key, borrowed,
                      *Table::of(table).inline_slot(offset), key);
}

[[gnu::always_inline]] inline int give_back(attrcache_borrowed* given_back) {
  if (given_back == nullptr) [[unlikely]]
    return ATTRCACHE_ERR_NULL;
  auto* const borrowed = reinterpret_cast<Borrowed*>(given_back);
  if (!borrowed->holds()) [[unlikely]]
    return ATTRCACHE_ERR_ARGUMENT;
  Announcement* at = borrowed->cell;
  asm("" : "+r"(at));  // or the compiler, after an inlined borrow, would keep addresses in it
  Announcement& cell = *at;
  const uint64_t me = this_thread().identity;
  if (!cell.borrowed.equals(reinterpret_cast<uintptr_t>(borrowed), kRelaxed) ||
      !cell.thread.equals(me, kRelaxed)) [[unlikely]]
    return give_back_attribute(borrowed);
  const uint64_t what = cell.what.load(kRelaxed);
  Readers::retract(cell, me);                                   // (L3)
  if (cell.meta.has<meta::kDeleting>(kRelaxed)) [[unlikely]] {  // (L4)
    borrowed->cell = nullptr;
    return end_give_back(cell, Announcement::slot(what), *ThreadRecord::of_first(cell).readers);
  }
  borrowed->cell = nullptr;  // last, so that a compiler that sees the struct's end leaves it out
  return ATTRCACHE_OK;
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_HOLD_H_
