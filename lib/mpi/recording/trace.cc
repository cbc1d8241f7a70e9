// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/recording/trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "mpi/handover/kept.h"
#include "mpi/recording/clock.h"
#include "mpi/recording/keyvals.h"
#include "platform/memory.h"
#include "platform/thread.h"

namespace attrcache::mpi::report {

constinit Atomic<bool> tracing_state{false};

namespace {

struct Entry {
  Atomic<bool> written;  // (MR3) true once the event is complete
  Event event;
};
static_assert(sizeof(Entry) == 48);

// It outlives the process (handover/kept.h), in the layout that tools/report/left.py reads.
struct Trace {
  Atomic<uint64_t> taken{0};  // relaxed: it only gives each event a number
  uint64_t apart[7];
  Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
};
static_assert(sizeof(Trace) == 64);

constinit Trace* trace = nullptr;  // written before tracing_state is set
constinit size_t capacity = 0;
constinit uint64_t slow_from = 0;

int thread_number() {
  static thread_local constinit int number = 0;
  if (number == 0) number = static_cast<int>(syscall(SYS_gettid));
  return number;
}

void record(const Event& event) {
  const uint64_t i = trace->taken.fetch_add(1, kRelaxed);
  if (i >= capacity) return;
  trace->entries()[i].event = event;
  trace->entries()[i].written.store(true, kRelease);  // (MR3)
}

}  // namespace

void start_tracing(size_t events, uint64_t slow) {
  const size_t bytes = sizeof(Trace) + events * sizeof(Entry);
  void* memory = kept::take(kept::What::kTrace, bytes);
  if (memory == nullptr) memory = kProcessMemory.allocate_zeroed(bytes);
  if (memory == nullptr) return;
  trace = new (memory) Trace{};
  capacity = events;
  slow_from = slow;
  tracing_state.store(true, kRelease);  // (MR4) publishes the variables above
}

void trace_callback(const Maker& maker, int keyval, bool copies, int code, uint64_t start,
                    uint64_t duration) {
  if (!tracing()) return;
  record({&maker, start, duration, thread_number(), keyval, code, static_cast<uint8_t>(maker.kind),
          copies ? What::kCopyFn : What::kDeleteFn});
}

Events traced() {
  const uint64_t wanted = trace->taken.load(kRelaxed);
  const size_t count = wanted < capacity ? wanted : capacity;
  std::vector<Event> events;
  events.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const Entry& entry = trace->entries()[i];
    // (MR3) Not those that are still being written.
    if (entry.written.load(kAcquire)) events.push_back(entry.event);
  }
  const uint64_t dropped = wanted - events.size();
  return {std::move(events), dropped};
}

void Operation::begin() {
  if (tracing()) start_ = now();
  Maker* const maker = keyval_ != 0 ? maker_of(kind_, keyval_) : nullptr;
  maker_ = maker;
  if (maker == nullptr) return;
  left_ = this_thread().handed_off;
  Counts& counts = maker->counts;
  if (what_ == What::kSet) counts.sets.fetch_add(1, kRelaxed);
  if (what_ == What::kDelete) counts.deletes.fetch_add(1, kRelaxed);
  if (what_ == What::kFreeKeyval && first_free(kind_, keyval_)) counts.freed.fetch_add(1, kRelaxed);
}

void Operation::end() {
  if (maker_ != nullptr && this_thread().handed_off != left_) {
    this_thread().handed_off = left_;  // those of operations within a callback are counted there
    Counts& counts = maker_->counts;
    if (what_ == What::kSet) counts.left_by_set.fetch_add(1, kRelaxed);
    if (what_ == What::kDelete) counts.left_by_delete.fetch_add(1, kRelaxed);
  }
  if (start_ == 0) return;
  const uint64_t duration = now() - start_;
  if (duration >= slow_from)
    record({maker_, start_, duration, thread_number(), keyval_, 0, kind_, what_});
}

}  // namespace attrcache::mpi::report
