// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The interleaving explorer: what a model is written with.
//
//   const auto result = explore({.preemptions = 2}, [] {
//     Atomic<int> x{0};                                  // shared state, made anew every time
//     spawn([&] { x.store(1, std::memory_order_relaxed); });
//     spawn([&] { expect(x.load(std::memory_order_relaxed) < 2, "x is a flag"); });
//     join();                                            // runs all interleavings of the two
//     expect(x.load(std::memory_order_relaxed) == 1, "the store is there in the end");
//   });
//
// runs the program once for every execution of its threads: every interleaving up to the bound and,
// for every load, every store that it may read (memory.h says which). What a program and its
// threads do may depend on nothing else. They must own no heap memory across an access, because an
// execution may be given up in the middle. And they may share data only through Atomic and Plain.
//
// Executions that differ only in the order of independent accesses are explored once if there is no
// bound (sleep sets: Godefroid, "Partial-order methods", 1996). Under a bound they would hide
// executions that are within it behind equivalent ones that aren't, so they are off then.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_EXPLORE_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_EXPLORE_H_

#include <cstdint>
#include <new>
#include <string>
#include <type_traits>

#include "tests/model/explorer/types.h"

namespace attrcache::model {

inline constexpr unsigned kUnlimited = ~0u;

struct Options {
  // How often another thread may run in place of one that could go on. When a thread waits or ends,
  // that doesn't count.
  unsigned preemptions = kUnlimited;
  // How often, in one execution, a load may read another store than the newest. Only takes effect
  // together with a preemption bound.
  unsigned stale_reads = kUnlimited;
  // The first thread may stop for ever before any of its steps. Such an execution ends when all
  // others have ended. Only takes effect together with a preemption bound.
  bool first_may_stop = false;
  // The heavy side of an asymmetric fence reaches one thread after the other, as the kernel's does,
  // and they may go on in between. Otherwise it reaches all at once, which is less to explore.
  bool gradual_fences = false;
  const char* replay = nullptr;  // runs that one execution only
  bool quiet = false;            // doesn't print a failure, which is in the result anyway
};

struct Result {
  uint64_t executions = 0;  // without those that were given up as equivalent to explored ones
  bool exhaustive = false;  // there are no further executions within the bound
  std::string failure;      // the failure that has ended the exploration; empty if there was none
  std::string replay;       // the Options::replay that repeats the failure
  bool ok() const { return exhaustive && failure.empty(); }
};

namespace detail {
Result explore(const Options& options, void (*program)(void*), void* argument);
void spawn(void (*body)(void*), void* argument);
void* closure(unsigned size);
unsigned become(unsigned thread);
}  // namespace detail

template <typename Program>
Result explore(const Options& options, Program program) {
  return detail::explore(
      options, [](void* p) { (*static_cast<Program*>(p))(); }, &program);
}

// Adds a thread, which starts at join(). There may be kMaxThreads; they are numbered in this order.
template <typename Body>
void spawn(Body body) {
  static_assert(std::is_trivially_destructible_v<Body>, "capture by reference");
  void* kept = new (detail::closure(sizeof(Body))) Body(body);
  detail::spawn([](void* b) { (*static_cast<Body*>(b))(); }, kept);
}

// Adds a thread for each of these, which do something with what they share.
template <typename Shared, typename... Bodies>
void spawn_each(Shared& shared, Bodies... bodies) {
  (spawn([&shared, bodies] { bodies(shared); }), ...);
}
// What one thread does with it, step by step.
template <typename... Steps>
constexpr auto in_turn(Steps... steps) {
  return [=](auto& shared) { (steps(shared), ...); };
}

// To be called before the threads run: calls body(), and the code under test takes the caller for
// the thread of that number.
template <typename Body>
void as_thread(unsigned thread, Body body) {
  const unsigned before = detail::become(thread);
  body();
  detail::become(before);
}

// Runs the threads to their ends.
void join();

// Whether the first thread has stopped for ever (Options::first_may_stop).
bool first_has_stopped();

// Fails the execution, and with it the exploration, unless the condition holds.
void expect(bool condition, const char* what);
[[noreturn]] void fail(const char* what);

// Adds a line to the log, which is printed if the execution fails.
void note(const char* text, int number = 0);

// A point in an execution, and whether one point happens before another.
struct Moment {
  unsigned thread;              // kMaxThreads: the program, before or after its threads
  uint16_t knows[kMaxThreads];  // how much of each thread happens before it
};

// Where the running thread is now.
Moment now();

// Whether `a` happens before `b`, or is `b` in the same thread.
inline bool happens_before(const Moment& a, const Moment& b) {
  if (a.thread == kMaxThreads) return true;  // only the time before the threads is compared so
  return b.thread == kMaxThreads || b.knows[a.thread] >= a.knows[a.thread];
}

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_EXPLORE_H_
