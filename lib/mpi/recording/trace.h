// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The trace: callbacks, and operations that took long. The events are kept in memory that is
// allocated once. Those that come when it is full are counted and dropped.

#ifndef ATTRCACHE_MPI_RECORDING_TRACE_H_
#define ATTRCACHE_MPI_RECORDING_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/objects/process.h"
#include "mpi/recording/maker.h"

namespace attrcache::mpi::report {

enum class What : uint8_t { kSet, kDelete, kFreeKeyval, kDup, kFree, kCopyFn, kDeleteFn };

struct Event {
  const Maker* maker;  // null: the event belongs to no keyval
  uint64_t start;      // as returned by now()
  uint64_t duration;
  int thread;
  int keyval;
  int code;  // what a callback returned
  uint8_t kind;
  What what;
};

[[gnu::visibility("hidden")]] extern constinit Atomic<bool> tracing_state;
inline bool tracing() { return tracing_state.load(kAcquire); }  // (MR4)

// Starts the trace, with memory for `events` events. Operations that take less than `slow`
// nanoseconds don't become events.
void start_tracing(size_t events, uint64_t slow);

void trace_callback(const Maker& maker, int keyval, bool copies, int code, uint64_t start,
                    uint64_t duration);

// The events that are kept so far, and how many were dropped.
struct Events {
  std::vector<Event> events;
  uint64_t dropped;
};
Events traced();

// An operation on an object of a kind, from its construction to its end. It is counted, and it
// becomes an event if it is slow. `keyval` is 0 where there is none.
class Operation {
 public:
  Operation(What what, int kind, int keyval)
      : keyval_(keyval), kind_(static_cast<uint8_t>(kind)), what_(what) {
    if (counting()) [[unlikely]]
      begin();
  }
  ~Operation() {
    if (start_ != 0 || maker_ != nullptr) [[unlikely]]
      end();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

 private:
  void begin();
  void end();
  Maker* maker_ = nullptr;
  uint64_t start_ = 0;
  unsigned left_ = 0;  // the deletions that this thread had handed off before
  const int keyval_;
  const uint8_t kind_;
  const What what_;
};

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_RECORDING_TRACE_H_
