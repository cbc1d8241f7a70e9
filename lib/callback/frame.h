// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a thread is doing with attributes further up its stack. When a callback calls the library
// again, the thread finds here what it must know about itself: what its own copy_fns hold, which
// they give up where a callback of theirs deletes it; that a callback has freed a table which an
// operation up the stack still uses; how often sets of one attribute are nested. Only the thread
// itself ever reads or writes its frames.
//
// Callbacks may nest very deep: the delete_fn of one object frees the next one. So the frames of a
// table are not looked for in the whole stack. Whoever looks passes the innermost few, and puts
// them into an index if there are more, where it finds the others. Frames that nobody looked for
// are in no index, as in nearly all programs.

#ifndef ATTRCACHE_CALLBACK_FRAME_H_
#define ATTRCACHE_CALLBACK_FRAME_H_

#include <cstdint>

#include "platform/thread.h"

namespace attrcache {

struct Announcement;  // readers/announcement.h
struct Frame;

// A frame's place in the index of its thread's frames: a binary tree in which the bits of its
// table's hash lead to it, the frame that was indexed first at the root. Frames of one table lie on
// one path. They are indexed from the outermost inwards, and end from the innermost outwards, so a
// frame that ends is always a leaf.
struct Indexed {
  Indexed() : at(nullptr) {}  // the others mean nothing until it is indexed
  Frame** at;                 // what points to the frame; null: it is not in the index
  Frame* root;
  Frame* below[2];
};

// An operation on a table that may run callbacks. Frames nest as the calls do.
struct Frame {
  enum class Use : uint8_t { kWholeTable, kDeleting, kCopying };

  Frame* outer;
  const void* table;
  const void* slot;     // while a callback runs: the slot of the value that it is called for
  uint64_t attachment;  // kDeleting: the sequence number of that value
  // kCopying: that the value is held; kDeleting: that this is within a deletion. Null: there is
  // none, or it was given up.
  Announcement* announced;
  Use use;
  bool table_died;  // a callback has freed the table, so it must not be touched any more
  uint8_t sets;     // so many sets of the slot's attribute run a delete_fn, this one included
  Indexed indexed;
};

// Puts a frame, and all those outside of it, into the index.
void index_frames(Frame* frame);

// The bits that lead to the frames of a table, the highest first; they are used again and again.
inline uint64_t path_to(const void* table) {
  return (reinterpret_cast<uintptr_t>(table) >> 4) * 0x9e3779b97f4a7c15;
}

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
  ~FrameScope() {
    thread_.innermost = frame_.outer;
    if (frame_.indexed.at != nullptr) [[unlikely]]
      *frame_.indexed.at = nullptr;
  }
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
      : frame_{nullptr, table, nullptr, 0, nullptr, use, false, 0, {}}, scope_(thread, frame_) {}

  // A callback begins, for the value in a slot; and ends.
  void begin(const void* slot, uint64_t attachment) {
    frame_.slot = slot;
    frame_.attachment = attachment;
  }
  // The same of a copy_fn, with how its value is held, or null.
  void begin_copy_fn(const void* slot, Announcement* announced) {
    frame_.slot = slot;
    frame_.announced = announced;
  }
  // Of a deletion, how it is announced; and how many sets are nested.
  void announced_by(Announcement* announced) { frame_.announced = announced; }
  void nested(uint8_t sets) { frame_.sets = sets; }
  void end() { frame_.slot = nullptr; }

  bool table_died() const { return frame_.table_died; }
  Announcement* announced() const { return frame_.announced; }

 private:
  Frame frame_;
  FrameScope scope_;
};

// The innermost frame that is in the index, from `frame` outwards, or null. visit() is called for
// those that are passed, unless they were too many and are in the index now.
template <typename Visit>
[[gnu::always_inline]] inline Frame* pass_unindexed(Frame* frame, Visit visit) {
  constexpr unsigned kFew = 16;
  Frame* const innermost = frame;
  for (unsigned passed = 0; frame != nullptr && frame->indexed.at == nullptr; ++passed) {
    if (passed == kFew) [[unlikely]] {
      index_frames(innermost);
      return innermost;
    }
    visit(*frame);
    frame = frame->outer;
  }
  return frame;
}

// Visits those frames of a table that are in the index. `indexed` is any frame there.
template <typename Visit>
[[gnu::noinline]] void for_each_indexed_of(Frame* indexed, const void* table, Visit visit) {
  uint64_t path = path_to(table);
  for (Frame* frame = indexed->indexed.root; frame != nullptr; path = path << 1 | path >> 63) {
    if (frame->table == table) visit(*frame);
    frame = frame->indexed.below[path >> 63];
  }
}

// Visits the frames of a table, from `frame` outwards, and perhaps some of those inside of it. Some
// may be visited twice.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_frame_of(Frame* frame, const void* table, Visit visit) {
  Frame* const indexed = pass_unindexed(frame, [&](Frame& passed) {
    if (passed.table == table) visit(passed);
  });
  if (indexed != nullptr) [[unlikely]]
    for_each_indexed_of(indexed, table, visit);
}

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_FRAME_H_
