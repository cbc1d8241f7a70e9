// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// One execution of a model: its threads, which of them runs next, and what each access does. There
// is one engine, because all runs in one thread of the operating system.
//
// A thread runs until it is about to access a contended location, or to wait. Only there may
// another thread go on in its place. What a thread does in between cannot be noticed by the others,
// so it makes no difference when it happens.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_ENGINE_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_ENGINE_H_

#include <cstdint>
#include <string>

#include "platform/thread.h"
#include "tests/model/explorer/choices.h"
#include "tests/model/explorer/explore.h"
#include "tests/model/explorer/fiber.h"
#include "tests/model/explorer/heap.h"
#include "tests/model/explorer/log.h"
#include "tests/model/explorer/memory.h"
#include "tests/model/explorer/types.h"

namespace attrcache::model {

// Whether the model's threads are running.
inline constinit bool concurrent = false;

class Engine {
 public:
  // ---- For the driver ----
  struct Outcome {
    bool pruned = false;   // given up, because what would follow is explored elsewhere
    bool learned = false;  // a location turned out to be contended, and has no complete history
    bool failed = false;
    std::string failure;
  };
  void start(const Options& options);  // an exploration
  Outcome execute(void (*program)(void*), void* argument);
  Choices& choices() { return choices_; }
  const Log& log() const { return log_; }

  // ---- For programs ----
  unsigned become(unsigned thread);  // for the code under test; returns which it was
  void spawn(void (*body)(void*), void* argument);
  void join();
  [[noreturn]] void fail(const char* what);
  void note(const char* text, int number);
  bool first_has_stopped() const { return first_stopped_; }

  // ---- For the code under test. Before and after threads run, atomics are plain memory ----
  Bits load(const Access& access);
  void store(const Access& access, Bits value);
  Bits update(const Access& access, Update how, Bits operand);
  // Only the bits of `mask` are compared and written.
  bool swap(const Access& access, Bits& expected, Bits desired, Bits mask,
            std::memory_order failure);
  bool swap_both(const Access& low, const Access& high, Bits& expected, Bits desired);
  void wait();
  // The heavy side of an asymmetric fence.
  void heavy_fence();
  // A thread's own full fence.
  void full_fence();
  void check_address(const void* address) {
    if (reinterpret_cast<uintptr_t>(address) < 65536) fail("access through a null pointer");
    if (concurrent) return;  // come_to() looks at the heap
    const char* const error = heap().access(heap().block_of(address), Heap::kProgram, nullptr);
    if (error != nullptr) fail(error);
  }
  void* allocate(size_t bytes);
  void release(void* memory);
  ThreadState& thread_state() { return running_->lib; }

  // ---- For race-checked cells and histories ----
  unsigned current() const { return static_cast<unsigned>(running_ - threads_); }
  const View& view() const { return running_->view; }

 private:
  struct Pending {
    const Location* location = nullptr;  // null: a wait
    const Location* second = nullptr;    // for an access to two
    bool writes = false;
    bool yields = false;
  };
  struct Thread {
    Fiber fiber;
    void (*body)(void*) = nullptr;
    void* argument = nullptr;
    bool done = false;
    bool fresh = false;      // reads only the newest, after it has waited because of a stale read
    bool was_stale = false;  // has read something stale since its last wait
    bool has_read = false;   // since its last wait
    uint64_t seen = 0;       // how many stores there were at the first load after its last wait
    Pending pending;
    View view = {};
    ThreadState lib = {};
  };

  static void run_program(void* self);
  static void run_thread(void* thread);
  [[noreturn]] void finish();
  [[noreturn]] void give_up();
  void go_on_in(Thread& thread);

  // To be called before an access, or one to two locations; another thread may run first.
  Location& arrive(const Access& access, bool writes, const Access* second = nullptr) {
    check_address(access.address);
    return concurrent ? come_to(access, writes, second) : plain_;
  }
  Location& come_to(const Access& access, bool writes, const Access* second);
  Location& located(const Access& access) { return concurrent ? memory_.find(access) : plain_; }
  // A point where others may run first, and a line of the log for one that is no access.
  void pause(const Pending& pending);
  void record_pause(const char* what, int number = 0, Kind kind = Kind::kWait);
  void count_step();
  void let_others_go_first(const char* what);
  void stop_perhaps();
  void schedule();
  Thread& pick();
  void follow_replay();
  bool enabled(const Thread& thread) const;
  static bool dependent(const Pending& a, const Pending& b);
  unsigned choose(unsigned count) { return count > 1 ? choices_.choose(count) : 0; }
  // How many newer stores a load doesn't read. A swap reads an older one only if that makes it
  // fail, so not one that is as expected.
  unsigned choose_stale(const Location& location, const Bits* expected = nullptr, Bits mask = {});
  void was_read(unsigned stale);
  void record(const Access& access, const Location& location, Bits value, unsigned stale = 0,
              bool failed = false);
  void wrote(const Access& access, Location& location, Bits value, std::memory_order order,
             bool update);
  const View* heap_view() const;

  Options options_;
  Choices choices_;
  Memory memory_;
  Location plain_;    // of all accesses while no thread runs: it has no history
  View fenced_ = {};  // what was known at the last full fence
  Log log_;
  Replay replay_;
  Fiber driver_;
  Thread threads_[kMaxThreads + 1];  // the last runs the program itself
  Thread* running_ = &threads_[kMaxThreads];
  unsigned spawned_ = 0;
  unsigned started_ = 0;
  bool first_pick_ = false;
  bool first_stopped_ = false;  // for ever
  unsigned preemptions_ = 0;
  unsigned stale_reads_ = 0;
  unsigned sleeping_ = 0;  // as bits: the threads whose next step was already explored from here
  uint64_t stores_ = 0;
  uint64_t steps_ = 0;
  void (*program_)(void*) = nullptr;
  void* program_argument_ = nullptr;
  bool active_ = false;
  Outcome outcome_;
};

extern Engine the_engine;
inline Engine& engine() { return the_engine; }

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_ENGINE_H_
