// SPDX-License-Identifier: Apache-2.0
//
// What a thread is doing with an attribute further up its stack: a chain of frames, innermost
// first. It is how a thread knows itself again when a callback comes back into the library: its own
// pins, which it must not wait for; a table that died under a callback; a callback that attaches
// again what is being deleted. Only its own thread ever reads or writes a frame.

#ifndef ATTRCACHE_CALLBACK_FRAME_H_
#define ATTRCACHE_CALLBACK_FRAME_H_

#include <cstdint>

#include "platform/thread.h"

namespace attrcache {

struct Frame {
  enum class Use : uint8_t { kDeleting, kCopying, kBorrowing };

  Frame* outer;
  const void* table;
  const void* slot;
  uint64_t attachment;  // which of the values that the slot held over time: its sequence number
  Use use;
  bool unpinned;    // copying: its own pin is given up already
  bool table_died;  // the table was freed by a callback: touch it no more
  bool reattached;  // deleting: this thread has attached something to the slot since
};

inline void enter_frame(Frame& frame) {
  ThreadState& thread = this_thread();
  frame.outer = thread.innermost;
  // The optimizers of g++ 14 and newer cannot tell that leave_frame takes it out again, and warn.
  Frame* innermost = &frame;
  asm("" : "+r"(innermost));
  thread.innermost = innermost;
}

// The link that leads to a frame of this thread, or to null if it isn't in that one.
inline Frame** link_to(const Frame& frame) {
  Frame** link = &this_thread().innermost;
  while (*link != nullptr && *link != &frame) link = &(*link)->outer;
  return link;
}
inline bool is_in_frame(const Frame& frame) { return *link_to(frame) != nullptr; }

// Frames of callbacks nest; borrows end in any order. False: this thread isn't in that frame.
inline bool leave_frame(Frame& frame) {
  Frame** const link = link_to(frame);
  if (*link == nullptr) return false;
  *link = frame.outer;
  return true;
}

// A thread's stay in an operation on a whole table: tells it when a callback has freed the table.
class Stay {
 public:
  explicit Stay(const void* table) {
    frame_.table = table;
    enter_frame(frame_);
  }
  ~Stay() { leave_frame(frame_); }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;
  bool table_died() const { return frame_.table_died; }

 private:
  Frame frame_ = {};
};

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_FRAME_H_
