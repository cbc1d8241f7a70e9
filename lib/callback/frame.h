// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a thread is doing with attributes further up its stack. When a callback calls the library
// again, the thread finds here what it must know about itself: which values its own copies hold, to
// be given up if a callback deletes them; that a callback has freed a table which an operation up
// the stack still uses; how often sets of one attribute are nested. Only the thread itself ever
// reads or writes its frames.

#ifndef ATTRCACHE_CALLBACK_FRAME_H_
#define ATTRCACHE_CALLBACK_FRAME_H_

#include <cstdint>

#include "platform/thread.h"

namespace attrcache {

struct Announcement;  // readers/thread_record.h

// An operation on a table that may run callbacks. Frames nest as the calls do.
struct Frame {
  enum class Use : uint8_t { kWholeTable, kDeleting, kCopying };

  Frame* outer;
  const void* table;
  const void* slot;     // while a callback runs: the slot of the value that it is called for
  uint64_t attachment;  // kDeleting: that value's meta
  // The cell that announces, with kCopying, that the value is held; with kDeleting, that this is
  // within a deletion. Null: there is none, or the table died.
  Announcement* announced;
  Use use;
  bool table_died;  // a callback has freed the table, so it must not be touched any more
  uint8_t sets;     // how many sets of the slot's attribute run a delete_fn, this one included
};

// The frame of an operation, on its thread's stack while this lives. It tells the callbacks which
// value they are called for, and the operation what they have done.
class TableScope {
 public:
  // For a deletion: the cell that announces it; and how many sets are nested.
  TableScope(ThreadState& thread, const void* table, Frame::Use use = Frame::Use::kWholeTable,
             Announcement* announced = nullptr, unsigned sets = 0)
      : thread_(thread), frame_{thread.innermost, table, nullptr, 0,
                                announced,        use,   false,   static_cast<uint8_t>(sets)} {
    // The optimizers of g++ 14 and newer warn, since they don't see that the destructor takes the
    // frame out again.
    Frame* innermost = &frame_;
    asm("" : "+r"(innermost));
    thread.innermost = innermost;
  }
  ~TableScope() { thread_.innermost = frame_.outer; }
  TableScope(const TableScope&) = delete;
  TableScope& operator=(const TableScope&) = delete;

  // A callback begins, for the value in a slot; and ends.
  void begin(const void* slot, uint64_t attachment) {
    frame_.slot = slot;
    frame_.attachment = attachment;
  }
  // The same for a copy_fn, with the cell that holds its value, or null.
  void begin_copy_fn(const void* slot, Announcement* announced) {
    frame_.slot = slot;
    frame_.announced = announced;
  }
  void end() { frame_.slot = nullptr; }

  bool table_died() const { return frame_.table_died; }
  Announcement* announced() const { return frame_.announced; }

 private:
  ThreadState& thread_;
  Frame frame_;
};

// Visits the frames of a table, from `frame` outwards.
template <typename Visit>
void for_each_frame_of(Frame* frame, const void* table, Visit visit) {
  for (; frame != nullptr; frame = frame->outer) {
    if (frame->table == table) visit(*frame);
  }
}

// Whether an operation on a table that hasn't died is among them.
inline bool is_in_use(Frame* frame, const void* table) {
  bool in_use = false;
  for_each_frame_of(frame, table, [&in_use](const Frame& f) { in_use |= !f.table_died; });
  return in_use;
}

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_FRAME_H_
