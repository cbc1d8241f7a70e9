// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A thread's record in a domain: the cells in which it announces that it holds a value, or is
// within a deletion. Others only read a cell, except to give up a borrow (Readers::give_up). That
// readers publish what they read, and the thread that deletes looks there, is the idea of hazard
// pointers (Michael, "Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects", 2004).
//
// A record belongs to an ordinal (platform/thread.h), so the thread that gets the ordinal next goes
// on with it; what its predecessor has left borrowed stays there under the predecessor's identity.
// Records are never released before their domain.

#ifndef ATTRCACHE_READERS_THREAD_RECORD_H_
#define ATTRCACHE_READERS_THREAD_RECORD_H_

#include <cstddef>
#include <cstdint>

#include "platform/atomic.h"
#include "platform/pair.h"
#include "platform/thread.h"

namespace attrcache {

// What a cell says about an address; it is kept in the low bits of that address.
enum class Says : uintptr_t {
  kBorrows,  // of a slot: holds the attachment, which was borrowed
  kCopies,   // of a slot: holds the attachment, on which a copy_fn runs
  kDeletes,  // of a table: is within a call that runs a delete_fn, and will touch the table
  kTaken,    // nothing yet, but the cell is in use
  kGivenUp   // nothing, or nothing any more; but the borrow is still to be given back
};

struct Announcement {
  static uintptr_t of(const void* address, Says says) {
    return reinterpret_cast<uintptr_t>(address) | static_cast<uintptr_t>(says);
  }
  static constexpr uintptr_t kSays = alignof(Pair) - 1;
  static Says says(uintptr_t what) { return static_cast<Says>(what & kSays); }
  static const Pair* slot(uintptr_t what) { return reinterpret_cast<const Pair*>(what & ~kSays); }
  static bool is_about_any(uintptr_t what) { return what > kSays; }
  static bool holds(uintptr_t what, const Pair* slot) {
    return what == of(slot, Says::kBorrows) || what == of(slot, Says::kCopies);
  }

  // 0: the cell is free.
  Atomic<uintptr_t> what{0};
  // The attachment that is held, as the slot's meta; and the thread that announces it
  // (Threads::identity). Both are stored before `what`, which releases them (F1), and mean
  // something only with it.
  //
  // (F3) The meta is stored with release itself, and a thread that looks for holders loads it with
  // acquire (F4). A cell may say the same about a slot twice in a row, of two attachments: a thread
  // that reads the first `what`, and then the second meta, takes the first hold for ended, and must
  // see what its holder has done.
  Atomic<uint64_t> meta{0};
  Atomic<uint64_t> thread{0};
  // kBorrows, kGivenUp: the attrcache_borrowed that holds by this cell; a copy of it is told apart
  // by its address. In a free cell: the next free one.
  Atomic<uint64_t> more{0};
};
static_assert(static_cast<uintptr_t>(Says::kGivenUp) <= Announcement::kSays);

// More cells, for a thread that needs more at once than a record has.
struct MoreCells {
  static constexpr unsigned kCells = 15;
  uintptr_t next = 0;  // written before it is published
  Announcement cells[kCells];
};

// On two cache lines: what a borrow writes is in the first.
struct alignas(kRecordSize) ThreadRecord {
  // The thread's list of free cells, without `first` and `deletes`, which have uses of their own.
  alignas(8) Announcement* free = nullptr;
  // The readers of the domain that it belongs to.
  alignas(8) class Readers* readers = nullptr;
  // The latest of its MoreCells.
  alignas(8) Atomic<uintptr_t> more{0};
  // Whether its thread has looked it up. Until then no cell of it announces anything.
  alignas(8) bool active = false;
  // The cell of a thread's first outstanding borrow, and that of its outermost deletion. User-level
  // threads don't use them, nor does a thread before it has taken the slow path once; until then
  // both say kTaken.
  alignas(8) Announcement first;
  Announcement deletes;
  Announcement other;

  static ThreadRecord& of_first(Announcement& first);
};
static_assert(sizeof(ThreadRecord) == kRecordSize);

inline ThreadRecord& ThreadRecord::of_first(Announcement& first) {
  return *reinterpret_cast<ThreadRecord*>(reinterpret_cast<char*>(&first) -
                                          offsetof(ThreadRecord, first));
}

}  // namespace attrcache

#endif  // ATTRCACHE_READERS_THREAD_RECORD_H_
