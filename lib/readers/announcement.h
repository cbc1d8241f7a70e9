// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a thread tells all others: that it holds a value, or what it waits for. Each announcement is
// a cell in the record of the thread that makes it (thread_record.h), and others only read it, but
// for two cases in which they answer: they hand a value to one who waits, or leave a deletion to
// one who copies. The idea of publishing what one reads, for whoever deletes to look at, is that of
// hazard pointers (Michael, "Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects",
// 2004).

#ifndef ATTRCACHE_READERS_ANNOUNCEMENT_H_
#define ATTRCACHE_READERS_ANNOUNCEMENT_H_

#include <cstdint>

#include "platform/atomic.h"
#include "platform/pair.h"

namespace attrcache {

// What is announced of a slot. It is in the low bits of the slot's address.
enum class Says : uintptr_t {
  kBorrows,         // holds the attachment: it was borrowed
  kCopies,          // holds the attachment: a copy_fn is running on it
  kLeaving,         // as kCopies, and a claimer is just leaving it the deletion, or mistakes it
  kAwaitsToBorrow,  // waits for the end of the replacing set that has claimed the attachment
  kAwaitsToCopy,
  kIsToBorrow,  // one who awaited: who ends that set is just handing it what is attached then, or
  kIsToCopy,    // is about to tell it that there is nothing
  kLeft,        // one who copies and will then delete the value
  kReplaces,    // is within a replacing set that has claimed the attachment
  kSeeks,   // has claimed the attachment, or wants to attach in its place, and waits for a holder
  kTaken,   // nothing yet, but the cell is in use
  kGivenUp  // nothing (the value is a predefined one), or nothing any more (its table was
            // abandoned): the borrow is still to be given back
};

struct Announcement {
  static uintptr_t of(const Pair* slot, Says says) {
    return reinterpret_cast<uintptr_t>(slot) | static_cast<uintptr_t>(says);
  }
  static constexpr uintptr_t kSays = alignof(Pair) - 1;
  static Says says(uintptr_t what) { return static_cast<Says>(what & kSays); }
  static const Pair* slot(uintptr_t what) { return reinterpret_cast<const Pair*>(what & ~kSays); }
  static bool is_about(uintptr_t what, const Pair* slot) {
    return Announcement::slot(what) == slot;
  }
  static bool is_about_any(uintptr_t what) { return what > kSays; }
  static bool holds(uintptr_t what) { return (what & kSays) <= uintptr_t(Says::kLeaving); }
  static bool awaits(uintptr_t what) {
    return says(what) == Says::kAwaitsToBorrow || says(what) == Says::kAwaitsToCopy;
  }
  static bool is_promised(uintptr_t what) {
    return says(what) == Says::kIsToBorrow || says(what) == Says::kIsToCopy;
  }

  // 0: the cell is free.
  Atomic<uintptr_t> what{0};
  // The attachment, as the slot's meta; and who announces it (Threads::identity). Both are stored
  // before `what`, which releases them (F1), and mean something only with it. (Of what is promised,
  // the meta is stored after it, and before the step by which it is held.)
  //
  // (F3) The meta is stored with release itself, and who looks for holders loads it with acquire
  // (F4). For a cell may say the same of the slot twice, of two attachments: whoever still reads
  // the first `what`, and the second meta already, takes the first hold for ended, and must see
  // what its holder has done.
  Atomic<uint64_t> meta{0};
  Atomic<uint64_t> who{0};
  // kBorrows: the attrcache_borrowed, by which it is known that it holds something. kSeeks: for
  // whom it waits. What was handed over, or is left: the value. What is promised: the next cell
  // that is. In a free cell: the next free one.
  Atomic<uint64_t> more{0};
};
static_assert(static_cast<uintptr_t>(Says::kGivenUp) <= Announcement::kSays);

}  // namespace attrcache

#endif  // ATTRCACHE_READERS_ANNOUNCEMENT_H_
