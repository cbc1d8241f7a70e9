// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// When each thread runs, and how an execution begins and ends.

#include <cstdio>
#include <cstdlib>

#include "tests/model/explorer/engine.h"

namespace attrcache::model {
namespace {

ThreadState thread_state_of(unsigned ordinal) {
  return {uint64_t{2} * ordinal + 1, ordinal, ordinal * kRecordSize, nullptr};
}

constexpr uint64_t kMaxSteps = 30000;  // an execution with more is taken for a livelock

}  // namespace

Engine the_engine;

void Engine::start(const Options& options) {
  options_ = options;
  choices_.clear();
  memory_.clear();
  replay_ = Replay(options.replay);
}

Engine::Outcome Engine::execute(void (*program)(void*), void* argument) {
  memory_.begin();
  fenced_ = {};
  heap().begin();
  log_.begin();
  replay_.begin();
  outcome_ = {};
  spawned_ = started_ = preemptions_ = stale_reads_ = sleeping_ = 0;
  first_stopped_ = false;
  stores_ = steps_ = 0;
  Thread& self = threads_[kMaxThreads];
  self.lib = thread_state_of(kMaxThreads + 1);
  program_ = program;
  program_argument_ = argument;
  running_ = &self;
  active_ = true;
  self.fiber.prepare(&Engine::run_program, this);
  Fiber::transfer(driver_, self.fiber);
  active_ = false;
  concurrent = false;
  return outcome_;
}

void Engine::run_program(void* self) {
  auto& e = *static_cast<Engine*>(self);
  e.program_(e.program_argument_);
  if (heap().not_released() != 0) e.fail("memory was not released in the end");
  e.give_up();
}

void Engine::give_up() {
  Fiber::transfer(running_->fiber, driver_);
  std::abort();  // not reached
}

void Engine::fail(const char* what) {
  if (!active_) {
    std::fprintf(stderr, "model: outside of any execution: %s\n", what);
    std::abort();
  }
  if (!outcome_.learned) {
    outcome_.failed = true;
    outcome_.failure = what;
  }
  give_up();
}

void Engine::record_pause(const char* what, int number, Kind kind) {
  const Access access = {nullptr, 0, kind, std::memory_order_relaxed, what, number};
  log_.add({access, {}, static_cast<uint8_t>(current()), 0, true, false});
}

void Engine::note(const char* text, int number) { record_pause(text, number, Kind::kNote); }

void Engine::count_step() {
  if (++steps_ > kMaxSteps) fail("no end in sight: a livelock?");
}

unsigned Engine::become(unsigned thread) {
  const unsigned before = running_->lib.ordinal - 1;
  running_->lib = thread_state_of(thread + 1);
  return before;
}

void Engine::spawn(void (*body)(void*), void* argument) {
  if (concurrent || started_ != 0 || spawned_ == kMaxThreads) fail("spawn: not now");
  Thread& t = threads_[spawned_];
  t.body = body;
  t.argument = argument;
  t.done = t.fresh = t.was_stale = t.has_read = false;
  t.seen = 0;
  t.pending = {};
  t.view = {};
  t.view.at[spawned_] = 1;
  ++spawned_;
  t.lib = thread_state_of(spawned_);
  t.fiber.prepare(&Engine::run_thread, &t);
}

// Every thread first runs to its first access of a contended location; then the choices begin.
void Engine::join() {
  if (spawned_ == 0 || started_ != 0) fail("join: not now");
  concurrent = true;
  first_pick_ = true;
  started_ = replay_.given() ? spawned_ : 1;
  go_on_in(threads_[0]);
  concurrent = false;
}

void Engine::run_thread(void* thread) {
  auto& self = *static_cast<Thread*>(thread);
  self.body(self.argument);
  self.done = true;
  if (self.lib.innermost != nullptr) engine().fail("a frame is left on a thread's stack");
  engine().schedule();
  std::abort();  // not reached
}

void Engine::go_on_in(Thread& thread) {
  Thread& from = *running_;
  running_ = &thread;
  if (&from != &thread) Fiber::transfer(from.fiber, thread.fiber);
}

Location& Engine::come_to(const Access& access, bool writes, const Access* second) {
  Location& location = located(access);
  if (access.order == std::memory_order_seq_cst) fail("seq_cst accesses are not modelled");
  Location* const other = second != nullptr ? &located(*second) : nullptr;
  const bool tracked = location.entry != 0 || (other != nullptr && other->entry != 0);
  if (tracked || replay_.given()) pause({&location, other, writes, false});
  for (Location* accessed : {&location, other}) {
    if (accessed != nullptr && accessed->entry == 0 &&
        Memory::note_access(*accessed, current(), writes)) {
      outcome_.learned = true;
    }
  }
  if (const char* error = heap().access(location.block, current(), &running_->view)) {
    record(access, location, {});
    fail(error);
  }
  count_step();
  return location;
}

void Engine::pause(const Pending& pending) {
  running_->pending = pending;
  if (replay_.given()) {
    follow_replay();
  } else {
    stop_perhaps();
    schedule();
  }
}

void Engine::wait() {
  if (!concurrent) fail("wait: no other thread is running");
  Thread& t = *running_;
  if (!t.has_read) t.seen = stores_;
  pause({.yields = true});
  t.fresh = t.was_stale;
  t.was_stale = t.has_read = false;
  record_pause("wait");
  replay_.next();
  count_step();
}

// As before an access that they might depend on.
void Engine::let_others_go_first(const char* what) {
  pause({.writes = true});
  record_pause(what);
  replay_.next();
  count_step();
}

void Engine::heavy_fence() {
  if (!concurrent) return;
  let_others_go_first("heavy fence");
  const View before = running_->view;
  for (unsigned i = 0; i < spawned_; ++i) {
    if (options_.gradual_fences && i != 0) let_others_go_first("reaches the next");
    View& other = threads_[i].view;
    running_->view.join_locations(other);
    other.join_locations(before);
  }
}

void Engine::full_fence() {
  if (!concurrent) return;
  let_others_go_first("full fence");
  running_->view.join_locations(fenced_);
  fenced_.join_locations(running_->view);
}

void Engine::follow_replay() {
  // A thread that goes on here has used its step when its turn comes again.
  Thread& self = *running_;
  for (;;) {
    const Replay::Step* step = replay_.peek();
    if (step == nullptr || step->thread >= spawned_) return;
    Thread& next = threads_[step->thread];
    if (&next == &self) return;
    go_on_in(next);
  }
}

// A waiting thread goes on when something was stored since it looked, or when it read a stale
// value: it would see the newest soon, and its next read does.
bool Engine::enabled(const Thread& t) const {
  if (t.done || (first_stopped_ && &t == &threads_[0])) return false;
  if (!t.pending.yields) return true;
  return t.was_stale || t.seen != stores_;
}

bool Engine::dependent(const Pending& a, const Pending& b) {
  if (a.yields || b.yields) return a.writes || b.writes;
  const bool meet = a.location == nullptr || b.location == nullptr || a.location == b.location ||
                    a.location == b.second || b.location == a.second ||
                    (a.second != nullptr && a.second == b.second);
  return meet && (a.writes || b.writes);
}

Engine::Thread& Engine::pick() {
  Thread* candidates[kMaxThreads];
  unsigned count = 0;
  Thread& self = *running_;
  const bool goes_on = !first_pick_ && enabled(self);
  first_pick_ = false;
  bool anyone = goes_on;
  if (goes_on && (sleeping_ & 1u << current()) == 0) candidates[count++] = &self;
  const bool put_off = goes_on && !self.pending.yields;  // by choosing another
  if (!put_off || preemptions_ < options_.preemptions) {
    for (unsigned i = 0; i < spawned_; ++i) {
      Thread& other = threads_[i];
      if ((goes_on && &other == &self) || !enabled(other)) continue;
      anyone = true;
      if ((sleeping_ & 1u << i) == 0) candidates[count++] = &other;
    }
  }
  if (count == 0) {
    if (!anyone) fail("deadlock: every thread waits");
    outcome_.pruned = true;
    give_up();
  }
  const unsigned chosen = choose(count);
  Thread& next = *candidates[chosen];
  if (put_off && &next != &self) ++preemptions_;
  if (options_.preemptions == kUnlimited) {
    unsigned asleep = sleeping_;
    for (unsigned i = 0; i < chosen; ++i) asleep |= 1u << (candidates[i] - threads_);
    sleeping_ = 0;
    for (unsigned i = 0; i < spawned_; ++i) {
      if ((asleep & 1u << i) != 0 && !dependent(threads_[i].pending, next.pending)) {
        sleeping_ |= 1u << i;
      }
    }
  }
  return next;
}

// Only when all threads have come to their first access, so that the choice is among those of one
// step.
void Engine::stop_perhaps() {
  if (!options_.first_may_stop || current() != 0 || started_ < spawned_) return;
  if (choose(2) == 1) {
    first_stopped_ = true;
    note("stops for ever", 0);
  }
}

void Engine::schedule() {
  if (started_ < spawned_) {
    go_on_in(threads_[started_++]);
    return;
  }
  bool all_done = true;
  for (unsigned i = first_stopped_; i < spawned_; ++i) all_done = all_done && threads_[i].done;
  if (all_done && first_stopped_) give_up();
  if (all_done) {
    go_on_in(threads_[kMaxThreads]);
    return;
  }
  if (replay_.given()) {
    // A thread has ended.
    const Replay::Step* step = replay_.peek();
    if (step == nullptr || step->thread >= spawned_ || threads_[step->thread].done) {
      fail("the replay string does not fit");
    }
    go_on_in(threads_[step->thread]);
    return;
  }
  go_on_in(pick());
}

}  // namespace attrcache::model
