// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A thread's record in a domain: the cells in which it announces that it holds a value, or is
// within a deletion. Others only read a cell. That readers publish what they read, and the thread
// that deletes looks there, is the idea of hazard pointers (Michael, "Hazard Pointers: Safe Memory
// Reclamation for Lock-Free Objects", 2004).
//
// A record belongs to an ordinal (platform/thread.h), so the thread that gets the ordinal next goes
// on with it; what its predecessor has left borrowed stays there under the predecessor's identity.
// Records and their blocks of cells are never released before their domain.

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
  kTaken     // nothing, or nothing yet; but the cell is in use
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
    static_assert(uintptr_t(Says::kBorrows) == 0 && uintptr_t(Says::kCopies) == 1);
    return (what ^ reinterpret_cast<uintptr_t>(slot)) <= uintptr_t(Says::kCopies);
  }

  // 0: the cell is free.
  Atomic<uintptr_t> what{0};
  // The attachment that is held, as the slot's meta; and the thread that announces it
  // (Threads::identity). Both are stored before `what`, which releases them (F1), and mean
  // something only with it. In a record's `first` and `deletes`, the thread is the one that may use
  // that cell without asking further.
  //
  // (F3) The meta is stored with release itself, and a thread that looks for holders loads it with
  // acquire (F4). A cell may say the same about a slot twice in a row, of two attachments: a thread
  // that reads the first `what`, and then the second meta, takes the first hold for ended, and must
  // see what its holder has done.
  Atomic<uint64_t> meta{0};
  Atomic<uint64_t> thread{kNobody};
  // kBorrows: the attrcache_borrowed that holds by this cell; a copy of it is told apart by its
  // address. In a free cell of a block: the next free one.
  Atomic<uint64_t> more{0};

  static constexpr uint64_t kNobody = 1;  // no thread has this identity
  void put_before(Announcement* cell) { more.store(reinterpret_cast<uintptr_t>(cell), kRelaxed); }
  Announcement* next_free() const {
    return reinterpret_cast<Announcement*>(static_cast<uintptr_t>(more.load(kRelaxed)));
  }
  // For a record's `first` and `deletes`.
  bool is_free_for(uint64_t identity) const {
    return thread.load(kRelaxed) == identity && what.load(kRelaxed) == 0;
  }
};
static_assert(static_cast<uintptr_t>(Says::kTaken) <= Announcement::kSays);

// More cells, for a thread that needs more at once than a record has. The blocks of which any cell
// is in use (and perhaps one more) are linked, for others to look through; the record's thread alone
// links and unlinks. A thread that is looking through a block while it is unlinked, or even linked
// again, goes on from there by `next`: to all blocks behind it that have stayed linked, and perhaps
// to others twice. Aligned, so that a cell's address leads to its block, and no cache line has cells
// of two threads.
struct alignas(256) CellBlock {
  static constexpr unsigned kCells = 6;

  explicit CellBlock(struct ThreadRecord* of) : record(of) {
    for (Announcement& cell : cells) put(cell);
  }
  static CellBlock& of(Announcement& cell) {
    return *reinterpret_cast<CellBlock*>(reinterpret_cast<uintptr_t>(&cell) & ~uintptr_t{255});
  }
  void put(Announcement& cell) {
    cell.put_before(free);
    free = &cell;
  }
  Announcement& get() {
    Announcement& cell = *free;
    free = cell.next_free();
    used.store(used.load(kRelaxed) + 1, kRelaxed);
    return cell;
  }

  alignas(8) Atomic<CellBlock*> next{nullptr};
  alignas(8) struct ThreadRecord* const record;
  // How many cells are in use: a block without any isn't looked through. The record's thread counts
  // one before it announces anything there, so a fence that shows the one shows the other. Release
  // and acquire: a thread that finds none must see what holders have done (as F1, F2).
  alignas(8) Atomic<unsigned> used{0};
  // The record's thread alone uses the following.
  alignas(8) CellBlock* before = nullptr;  // of those that are linked; null for the first
  alignas(8) CellBlock* spare = nullptr;   // the next of those that aren't
  alignas(8) Announcement* free = nullptr;
  alignas(32) Announcement cells[kCells];
};
static_assert(sizeof(void*) != 8 || sizeof(CellBlock) == 256);

// On two cache lines: what a borrow writes is in the first.
struct alignas(kRecordSize) ThreadRecord {
  // The readers of the domain that it belongs to.
  alignas(8) class Readers* readers = nullptr;
  // The thread that uses it (ThreadState::identity).
  alignas(8) uint64_t owner = Announcement::kNobody;
  // How many values that were held before its thread has borrowed by full fences (hold.cc).
  alignas(8) uint64_t full_borrows = 0;
  // The blocks that are linked, and those that aren't.
  alignas(8) Atomic<CellBlock*> blocks{nullptr};
  // The cell of a thread's first outstanding hold, and that of its outermost deletion. Both name
  // the owner as their thread, and only then may it use them, unless the runtime has user-level
  // threads.
  alignas(8) Announcement first;
  Announcement deletes;
  alignas(8) CellBlock* spare = nullptr;
  alignas(8) struct Tomb* tomb = nullptr;  // reserved (Readers::reserve_tomb)
  // Cells that threads other than the owner have released, linked by `more`: with user-level
  // threads, which may have moved since they took them.
  alignas(8) Atomic<Announcement*> returned{nullptr};
  // In the first record of each group: which of the group's records are in use (ActiveRecords).
  alignas(8) Atomic<uint64_t> group{0};

  CellBlock* first_block() const { return blocks.load(kRelaxed); }  // by its own thread
  // Links a block, as the first; and unlinks one. Release: pairs with any_of(), for what is in the
  // block.
  void link(CellBlock& block) {
    CellBlock* const next = first_block();
    block.before = nullptr;
    block.next.store(next, kRelease);
    if (next != nullptr) next->before = &block;
    blocks.store(&block, kRelease);
  }
  [[gnu::noinline]] void unlink(CellBlock& block) {
    CellBlock* const next = block.next.load(kRelaxed);
    (block.before != nullptr ? block.before->next : blocks).store(next, kRelease);
    if (next != nullptr) next->before = block.before;
    block.spare = spare;
    spare = &block;
  }

  // Ends the use of a cell of a block. An empty block is unlinked, unless it is the only one: else a
  // thread that holds one value, and others now and then, would link and unlink it each time.
  void put_back(Announcement& cell) {
    CellBlock& block = CellBlock::of(cell);
    block.put(cell);
    const unsigned used = block.used.load(kRelaxed) - 1;
    block.used.store(used, kRelease);
    if (used == 0 && (block.before != nullptr || block.next.load(kRelaxed) != nullptr))
        [[unlikely]] {
      unlink(block);
    }
  }

  // Visits the cells until visit(cell) returns true; returns whether it did.
  template <typename Visit>
  bool any_of(Visit visit) {
    if (visit(first) || visit(deletes)) return true;
    for (CellBlock* more = blocks.load(kAcquire); more != nullptr;) {
      if (more->used.load(kAcquire) != 0) {
        for (Announcement& cell : more->cells) {
          if (visit(cell)) return true;
        }
      }
      more = more->next.load(kAcquire);
    }
    return false;
  }

  static ThreadRecord& of_first(Announcement& first) {
    return *reinterpret_cast<ThreadRecord*>(reinterpret_cast<char*>(&first) -
                                            offsetof(ThreadRecord, first));
  }
  static ThreadRecord& of_deletes(Announcement& deletes) {
    return *reinterpret_cast<ThreadRecord*>(reinterpret_cast<char*>(&deletes) -
                                            offsetof(ThreadRecord, deletes));
  }
};
static_assert(sizeof(ThreadRecord) == kRecordSize);

}  // namespace attrcache

#endif  // ATTRCACHE_READERS_THREAD_RECORD_H_
