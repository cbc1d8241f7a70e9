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

// An operation on a table that may run callbacks, on its thread's stack while it lives. Frames nest
// as the calls do. They tell the callbacks which value they are called for, and the operation what
// they have done.
struct Frame {
  enum class Use : uint8_t { kWholeTable, kDeleting, kCopying };

  // `cell` announces a deletion; `nested` is the number of sets.
  Frame(ThreadState& of, const void* on, Use what = Use::kWholeTable, Announcement* cell = nullptr,
        unsigned nested = 0)
      : thread(of),
        outer(of.innermost),
        table(on),
        announced(cell),
        use(what),
        sets(static_cast<uint8_t>(nested)) {
    // The optimizers of g++ 14 and newer warn, since they don't see that the destructor takes the
    // frame out again.
    Frame* innermost = this;
    asm("" : "+r"(innermost));
    thread.innermost = innermost;
  }
  ~Frame() { thread.innermost = outer; }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  ThreadState& thread;
  Frame* const outer;
  const void* const table;
  const void* slot = nullptr;  // while a callback runs: the slot of the value that it is called for
  uint64_t attachment = 0;     // kDeleting: that value's meta
  // The cell that announces, with kCopying, that the value is held; with kDeleting, that this is
  // within a deletion. Null: there is none, or the table died.
  Announcement* announced;
  const Use use;
  bool table_died = false;  // a callback has freed the table, so it must not be touched any more
  const uint8_t sets;  // how many sets of the slot's attribute run a delete_fn, this one included
};

// Visits the frames of a table that hasn't died, from `frame` outwards, until visit(frame) returns
// true; returns whether it did.
template <typename Visit>
bool any_frame_of(Frame* frame, const void* table, Visit visit) {
  for (; frame != nullptr; frame = frame->outer) {
    if (frame->table == table && !frame->table_died && visit(*frame)) return true;
  }
  return false;
}

// Whether there is one.
inline bool is_in_use(Frame* frame, const void* table) {
  return any_frame_of(frame, table, [](const Frame&) { return true; });
}

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_FRAME_H_
