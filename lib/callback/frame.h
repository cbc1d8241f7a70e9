// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a thread is doing with attributes further up its stack. When a callback calls the library
// again, the thread finds here what it must know about itself: what its own copy_fns hold, so that
// it doesn't wait for them; that a callback has freed a table which an operation up the stack still
// uses; that a callback has attached again what is being deleted. Only the thread itself ever reads
// or writes its frames.

#ifndef ATTRCACHE_CALLBACK_FRAME_H_
#define ATTRCACHE_CALLBACK_FRAME_H_

#include <cstdint>

#include "platform/thread.h"

namespace attrcache {

struct Announcement;  // readers/announcement.h

// An operation on a table that may run callbacks. Frames nest as the calls do.
struct Frame {
  enum class Use : uint8_t { kWholeTable, kDeleting, kCopying };

  Frame* outer;
  const void* table;
  const void* slot;     // while a callback runs: the slot of the value that it is called for
  uint64_t attachment;  // kDeleting: the sequence number of that value
  Announcement* hold;   // kCopying: that of the value; null: there is none, or it was given up
  Use use;
  bool table_died;  // a callback has freed the table, so it must not be touched any more
  bool reattached;  // kDeleting: this thread has attached another value to the slot since
};

// Keeps a frame on its thread's stack while it lives.
class FrameScope {
 public:
  FrameScope(ThreadState& thread, Frame& frame) : thread_(thread), frame_(frame) {
    frame.outer = thread.innermost;
    // The optimizers of g++ 14 and newer can't tell that the destructor takes it out again, and
    // warn.
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

// The frame of an operation. It tells the callbacks which value they are called for, and the
// operation what they have done.
class TableScope {
 public:
  TableScope(ThreadState& thread, const void* table, Frame::Use use = Frame::Use::kWholeTable)
      : frame_{nullptr, table, nullptr, 0, nullptr, use, false, false}, scope_(thread, frame_) {}

  // A callback begins, for the value in a slot; and ends.
  void begin(const void* slot, uint64_t attachment) {
    frame_.slot = slot;
    frame_.attachment = attachment;
  }
  // The same of a copy_fn, with how its value is held, or null.
  void begin_copy(const void* slot, Announcement* hold) {
    frame_.slot = slot;
    frame_.hold = hold;
  }
  void end() { frame_.slot = nullptr; }

  bool table_died() const { return frame_.table_died; }
  Announcement* hold() const { return frame_.hold; }
  bool reattached() const { return frame_.reattached; }
  Frame* outer() const { return frame_.outer; }

 private:
  Frame frame_;
  FrameScope scope_;
};

template <typename Visit>
void for_each_frame(const ThreadState& thread, Visit visit) {
  for (Frame* f = thread.innermost; f != nullptr; f = f->outer) visit(*f);
}

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_FRAME_H_
