// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a thread is doing with attributes further up its stack, and what it has borrowed. It is how
// a thread knows itself again when a callback comes back into the library: its own pins, which it
// must not wait for; a table that died under a callback; a callback that attaches again what is
// being deleted. Only its own thread ever reads or writes its frames and borrows.

#ifndef ATTRCACHE_CALLBACK_FRAME_H_
#define ATTRCACHE_CALLBACK_FRAME_H_

#include <cstdint>

#include "platform/thread.h"

namespace attrcache {

// One callback that runs, or one operation on a whole table. Frames nest as the calls do.
struct Frame {
  enum class Use : uint8_t { kWholeTable, kDeleting, kCopying };

  Frame* outer;
  const void* table;
  const void* slot;     // deleting, copying
  uint64_t attachment;  // deleting: the sequence number of the value that is being deleted
  Use use;
  bool unpinned;    // copying: its own pin is given up already
  bool table_died;  // the table was freed by a callback: touch it no more
  bool reattached;  // deleting: this thread has attached something to the slot since
};

// Keeps a frame on its thread's stack while it lives.
class FrameScope {
 public:
  FrameScope(ThreadState& thread, Frame& frame) : thread_(thread), frame_(frame) {
    frame.outer = thread.innermost;
    // The optimizers of g++ 14 and newer can't tell that the destructor takes it out again, and warn.
    Frame* innermost = &frame;
    asm("" : "+r"(innermost));
    thread.innermost = innermost;
  }
  ~FrameScope() { thread_.innermost = frame_.outer; }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;

 private:
  ThreadState& thread_;
  Frame& frame_;
};

// An operation on a whole table: tells it when a callback has freed the table.
class TableScope {
 public:
  TableScope(ThreadState& thread, const void* table)
      : frame_{nullptr, table, nullptr, 0, Frame::Use::kWholeTable, false, false, false},
        scope_(thread, frame_) {}
  bool table_died() const { return frame_.table_died; }

 private:
  Frame frame_;
  FrameScope scope_;
};

template <typename Visit>
void for_each_frame(const ThreadState& thread, Visit visit) {
  for (Frame* f = thread.innermost; f != nullptr; f = f->outer) visit(*f);
}

// A value that a thread has borrowed, in the list of all it has. Borrows end in any order, so the
// list is linked both ways.
struct Borrow {
  Borrow* next;
  Borrow** link;  // what points to this one
  const void* slot;
};

inline void enter_borrow(ThreadState& thread, Borrow& borrow) {
  borrow.next = thread.borrows;
  borrow.link = &thread.borrows;
  if (borrow.next != nullptr) borrow.next->link = &borrow.next;
  thread.borrows = &borrow;
}

inline void leave_borrow(Borrow& borrow) {
  *borrow.link = borrow.next;
  if (borrow.next != nullptr) borrow.next->link = borrow.link;
}

inline bool has_borrowed(const ThreadState& thread, const void* slot) {
  for (const Borrow* b = thread.borrows; b != nullptr; b = b->next) {
    if (b->slot == slot) return true;
  }
  return false;
}

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_FRAME_H_
