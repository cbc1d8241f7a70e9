// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Stops a thread within an operation, at another place in each run. On x86-64, runs stop it before
// each instruction of the operation in turn, by a signal whose handler returns when the thread may
// go on: the first run traps after every instruction and notes the address, and each later run sets
// a breakpoint. Elsewhere they stop it at the beginning of each basic block of the library, which
// must be compiled with -fsanitize-coverage=trace-pc for that (as by tests/platforms/run.sh).

#ifndef ATTRCACHE_TESTS_STRESS_STOPPING_H_
#define ATTRCACHE_TESTS_STRESS_STOPPING_H_

#include <gtest/gtest.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <x86intrin.h>

#include <cerrno>
#endif

#include "tests/support/threads.h"

namespace attrcache::support {

// One run of the operation, in a thread of its own. No other thread executes its code until the
// thread is stopped. Runs are numbered from 0.
class Stopping {
 public:
  explicit Stopping(long number);
  static long runs();  // how many are worthwhile, after run 0

  // In the thread that will be stopped.
  template <typename Operation>
  void within(Operation operation);
  // In another. Returns whether the thread is stopped; else it has ended the operation.
  bool stop(std::thread& thread);
  void go_on() { goes_on_.open(); }

 private:
  void stay() {
    stopped_ = true;
    set(reached_);
    goes_on_.wait();
  }

  // While a breakpoint may be anywhere in the operation's code, the other thread calls neither the
  // C library nor the standard library, whose inline functions may be code of this program.
  static void set(bool& word) { __atomic_store_n(&word, true, __ATOMIC_RELEASE); }
  static bool is_set(const bool& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }

  bool stopped_ = false;
  bool reached_ = false;  // the thread is stopped, or has ended the operation
  Gate goes_on_;
  const long number_;
  static inline long length;  // of run 0
#if defined(__x86_64__)
  static void handle(int, siginfo_t*, void* context);
  static inline Stopping* current;
  static constexpr long kTrapFlag = 0x100;
  static constexpr uint8_t kTrap = 0xcc;

  static inline uint8_t* path[1 << 14];  // of run 0
  bool ready_ = false;                   // stop() has begun
  uint8_t* at_ = nullptr;                // the breakpoint's place, and the byte that belongs there
  uint8_t instruction_ = 0;
  int passes_ = 0;        // arrivals there until the thread stops
  bool passing_ = false;  // the breakpoint is removed, for one instruction
#else
 public:
  static void pass();  // called at each basic block

 private:
  static inline thread_local Stopping* within_;
  long passed_ = 0;
#endif
};

inline long Stopping::runs() { return length; }

#if defined(__x86_64__)
extern "C" uint8_t __executable_start[], etext[];

inline Stopping::Stopping(long number) : number_(number) {
  current = this;
  if (number == 0) {
    struct sigaction action = {};
    action.sa_sigaction = &handle;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, nullptr);
    const uintptr_t begin = reinterpret_cast<uintptr_t>(__executable_start) & ~uintptr_t{0xfff};
    const uintptr_t end = reinterpret_cast<uintptr_t>(etext);
    EXPECT_EQ(
        mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE | PROT_EXEC),
        0);
    length = 0;
    return;
  }
  uint8_t* const place = path[number];
  if (place < __executable_start || place >= etext) return;  // in the C library
  for (long n = 1; n <= number; ++n) passes_ += path[n] == place;
  at_ = place;
  instruction_ = *place;
}

template <typename Operation>
void Stopping::within(Operation operation) {
  wait_until([this] { return is_set(ready_); });
  if (at_ != nullptr) *at_ = kTrap;
  unsigned a, b, c, d;
  __get_cpuid(0, &a, &b, &c, &d);  // serializes, so the breakpoint is seen
  __writeeflags(__readeflags() | (number_ == 0 ? kTrapFlag : 0));
  operation();
  __writeeflags(__readeflags() & ~kTrapFlag);
  if (at_ != nullptr) *at_ = instruction_;
  set(reached_);
}
inline bool Stopping::stop(std::thread&) {
  set(ready_);
  while (!is_set(reached_)) {
    long yield = SYS_sched_yield;
    asm volatile("syscall" : "+a"(yield) : : "rcx", "r11", "memory");
  }
  return stopped_;
}

inline void Stopping::handle(int, siginfo_t*, void* context) {
  const int error = errno;
  auto* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  Stopping& self = *current;
  if (self.number_ == 0) {
    if (length + 1 < std::ssize(path))
      path[++length] = reinterpret_cast<uint8_t*>(registers[REG_RIP]);
  } else if (self.passing_) {
    self.passing_ = false;
    *self.at_ = kTrap;
    registers[REG_EFL] &= ~kTrapFlag;
  } else {
    registers[REG_RIP] = reinterpret_cast<greg_t>(self.at_);
    *self.at_ = self.instruction_;
    self.passing_ = --self.passes_ != 0;
    if (self.passing_) {
      registers[REG_EFL] |= kTrapFlag;
    } else {
      self.stay();
    }
  }
  errno = error;
}
#else
inline Stopping::Stopping(long number) : number_(number) {}

template <typename Operation>
void Stopping::within(Operation operation) {
  within_ = this;
  operation();
  within_ = nullptr;
  if (number_ == 0) length = passed_;
  set(reached_);
}
inline bool Stopping::stop(std::thread&) {
  wait_until([this] { return is_set(reached_); });
  return stopped_;
}
inline void Stopping::pass() {
  if (within_ != nullptr && ++within_->passed_ == within_->number_) within_->stay();
}
extern "C" void __sanitizer_cov_trace_pc() { Stopping::pass(); }
#endif

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_STRESS_STOPPING_H_
