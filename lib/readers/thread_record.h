// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A thread's record in a domain: the cells in which it announces what it holds, or that it is
// within a deletion. Others read a cell, or exchange it for the same with one more bit. That
// readers publish what they read, and the thread that deletes looks there, is the idea of hazard
// pointers (Michael, "Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects", 2004).
//
// A record belongs to an ordinal (platform/thread.h), so the thread that gets the ordinal next goes
// on with it; what its predecessor has left borrowed stays there under the predecessor's identity.
// Records and their cells are never released before their domain.

#ifndef ATTRCACHE_READERS_THREAD_RECORD_H_
#define ATTRCACHE_READERS_THREAD_RECORD_H_

#include <cstddef>
#include <cstdint>

#include "platform/asymmetric_fence.h"
#include "platform/atomic.h"
#include "platform/pair.h"
#include "platform/thread.h"

namespace attrcache {

// What a cell in use says about an address, in its low bits. (Of a free cell the lowest is 1.)
enum class Says : uint64_t {
  kBorrows = 0,  // of a slot: holds the attachment, which was borrowed
  kCopies = 2,   // of a slot: holds the attachment, on which a copy_fn runs
  kDeletes = 4,  // of a table: is within a call that runs a delete_fn, and will touch the table
  kTaken = 6     // nothing, or nothing yet
};

struct alignas(Pair) Announcement {
  static uint64_t of(const void* address, Says says) {
    return reinterpret_cast<uintptr_t>(address) | static_cast<uint64_t>(says);
  }
  static constexpr uint64_t kSays = alignof(Pair) - 1;
  static Says says(uint64_t what) { return static_cast<Says>(what & kSays); }
  static const Pair* slot(uint64_t what) {
    return reinterpret_cast<const Pair*>(static_cast<uintptr_t>(what & ~kSays));
  }
  static bool holds(uint64_t what, const Pair* slot) {
    static_assert(uint64_t(Says::kBorrows) == 0 && uint64_t(Says::kCopies) == 2);
    return (what & ~uint64_t(Says::kCopies)) == reinterpret_cast<uintptr_t>(slot);
  }
  static bool is_free(uint64_t what) { return (what & 1) != 0; }

  static constexpr uint64_t kNobody = 1;  // no thread has this identity
  // Odd if the cell is free. In a record's `first` it is then the identity of the thread that may
  // use that cell without asking further.
  Atomic<uint64_t> what{kNobody};
  // The attachment that is held, as the slot's meta; and the thread that announces it
  // (Threads::identity). Both are stored before `what`, which releases them (F1), and mean
  // something only with it. A deleter that has found a holder sets kDeleting in the meta (L7).
  //
  // (F3) The meta is stored with release, too, and loaded with acquire by a thread that looks for
  // holders (F4): if it reads one hold's `what` and the next one's meta, it takes the first for
  // ended, and must see what that holder did. But the next hold may be of another table's
  // attachment that has the very meta that is looked for. So a thread that finds a holder makes
  // sure by an exchange of both words.
  Atomic<uint64_t> meta{0};
  Atomic<uint64_t> thread{kNobody};
  // The attrcache_borrowed that holds by this cell, or 0: a copy of it has another address.
  Atomic<uint64_t> borrowed{0};
};

// One of the cells that a thread has besides its record's `first`. Those in use are linked, for
// others to look through; the record's thread alone links and unlinks. A thread that is looking at
// a cell while it is unlinked, or even linked again, goes on from there by `next`: to all cells
// behind it that have stayed linked, and perhaps to others twice. Aligned, so that no cache line
// has cells of two threads.
struct alignas(64) LinkedCell {
  explicit LinkedCell(struct ThreadRecord* of) : record(of) {}
  static LinkedCell& of(Announcement& cell) { return reinterpret_cast<LinkedCell&>(cell); }

  Announcement cell;
  Atomic<LinkedCell*> next{nullptr};
  LinkedCell* before = nullptr;  // null for the first; the record's thread alone uses it
  LinkedCell* spare = nullptr;   // the next one of a list of cells that aren't in use
  struct ThreadRecord* const record;
};

// On three cache lines: what a borrow writes is in the first.
struct alignas(64) ThreadRecord {
  // The readers of the domain that it belongs to.
  alignas(8) class Readers* readers = nullptr;
  // The thread that uses it (ThreadState::identity).
  alignas(8) uint64_t owner = Announcement::kNobody;
  // How often its thread has borrowed, with full fences, what was held before (table/hold.cc).
  alignas(8) uint64_t full_borrows = 0;
  // The other cells in use.
  alignas(8) Atomic<LinkedCell*> linked{nullptr};
  // The cell of a thread's first outstanding hold or deletion. Only the thread it names may use
  // it: not the owner, if a predecessor's borrow is left in it, or if there are user-level threads.
  Announcement first;
  // A spare one at first: a deletion beside a borrow, or a borrow within one, needs no memory.
  LinkedCell second{this};
  // Cells that aren't in use.
  alignas(8) LinkedCell* spare = &second;
  alignas(8) struct Tomb* tomb = nullptr;  // reserved (Readers::reserve_tomb)
  // Cells, still linked, that threads other than the owner have released: with user-level threads,
  // which may have moved since they took them.
  alignas(8) Atomic<LinkedCell*> returned{nullptr};
  // In the first record of each group: which of the group's records are in use (ActiveRecords).
  alignas(8) Atomic<uint64_t> group{0};

  // Makes a spare cell the first that is linked, before anything is announced there. Release: pairs
  // with any_of(), for what is in the cell.
  LinkedCell& link() {
    LinkedCell& cell = *spare;
    spare = cell.spare;
    LinkedCell* const next = linked.load(kRelaxed);
    cell.before = nullptr;
    cell.next.store(next, kRelease);
    if (next != nullptr) next->before = &cell;
    linked.store(&cell, kRelease);
    return cell;
  }
  // Makes a free cell spare. Release: as F1, for a thread that doesn't find it.
  void unlink(LinkedCell& cell) {
    LinkedCell* const next = cell.next.load(kRelaxed);
    (cell.before != nullptr ? cell.before->next : linked).store(next, kRelease);
    if (next != nullptr) next->before = cell.before;
    cell.spare = spare;
    spare = &cell;
  }

  // Visits the cells in use until visit(cell, what) returns true; returns whether it did.
  template <typename Visit>
  bool any_of(Visit visit) {
    const auto is_it = [&visit](Announcement& cell) {
      const uint64_t what = AsymmetricFence::look(cell.what);
      return !Announcement::is_free(what) && visit(cell, what);
    };
    if (is_it(first)) return true;
    for (LinkedCell* at = linked.load(kAcquire); at != nullptr; at = at->next.load(kAcquire)) {
      if (is_it(at->cell)) return true;
    }
    return false;
  }

  // Whether a cell is a record's `first`, as its address shows: `linked` cells begin cache lines.
  static bool is_first(const Announcement& cell) {
    static_assert(offsetof(ThreadRecord, first) == 32 && alignof(LinkedCell) == 64);
    return reinterpret_cast<uintptr_t>(&cell) % alignof(LinkedCell) != 0;
  }
  static ThreadRecord& of_first(Announcement& first) {
    return *reinterpret_cast<ThreadRecord*>(reinterpret_cast<char*>(&first) -
                                            offsetof(ThreadRecord, first));
  }
};
static_assert(sizeof(ThreadRecord) == kRecordSize);

}  // namespace attrcache

#endif  // ATTRCACHE_READERS_THREAD_RECORD_H_
