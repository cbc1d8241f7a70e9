// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A thread's record in a domain: the cells in which it announces. A record belongs to an ordinal
// (platform/thread.h), so the thread that gets the ordinal next goes on with it; what its
// predecessor has left borrowed stays there under the predecessor's identity. Records are never
// released before their domain.

#ifndef ATTRCACHE_READERS_THREAD_RECORD_H_
#define ATTRCACHE_READERS_THREAD_RECORD_H_

#include <cstddef>
#include <cstdint>

#include "platform/thread.h"
#include "readers/announcement.h"

namespace attrcache {

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
  // threads don't use them, nor does a thread before it has taken the slow way once; until then
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
