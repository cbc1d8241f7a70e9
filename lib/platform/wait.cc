// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/wait.h"

#include <sched.h>
#include <time.h>

// Where there are no futexes, threads that wait for long take short naps.
#if defined(__linux__) && !defined(ATTRCACHE_NO_FUTEX)
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef SYS_futex
#define ATTRCACHE_HAS_FUTEX 1
#endif
#endif

namespace attrcache {
namespace {

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void nap(long nanoseconds) {
  const timespec time = {0, nanoseconds};
  nanosleep(&time, nullptr);
}

int64_t nanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

#ifdef ATTRCACHE_HAS_FUTEX
long futex(const Atomic<uint32_t>& word, int operation, uint32_t value) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}
#endif

}  // namespace

void Backoff::relax() {
  constexpr unsigned kSpins = 64;
  constexpr unsigned kYields = 192;
  ++round_;
  if (round_ <= kSpins) {
    pause();
  } else if (round_ <= kYields) {
    sched_yield();
  } else {
    const unsigned excess = round_ - kYields;
    nap(excess < 100 ? 10'000L * static_cast<long>(excess) : 1'000'000L);
  }
}

bool Patience::pass() {
  constexpr unsigned kSpins = 64;
  constexpr unsigned kYields = kSpins + 256;
  constexpr int64_t kLong = 100'000;
  if (round_ >= kYields) return false;
  if (++round_ <= kSpins) {
    pause();
    return true;
  }
  const int64_t now = nanoseconds();
  if (end_ == 0) end_ = now + kLong;
  if (now >= end_) {
    round_ = kYields;
    return false;
  }
  sched_yield();
  return true;
}

void sleep_while(const Atomic<uint32_t>& word, uint32_t seen) {
#ifdef ATTRCACHE_HAS_FUTEX
  // Whether the thread was woken, the word had changed already, or a signal came: the caller looks
  // again. Where futexes are forbidden (by a seccomp filter, say), short naps take their place.
  if (futex(word, FUTEX_WAIT, seen) == 0 || errno == EAGAIN || errno == EINTR) return;
#else
  static_cast<void>(word);
  static_cast<void>(seen);
#endif
  nap(20'000);
}

#ifdef ATTRCACHE_HAS_FUTEX
void wake_all(const Atomic<uint32_t>& word) { futex(word, FUTEX_WAKE, INT_MAX); }
#else
void wake_all(const Atomic<uint32_t>&) {}
#endif

}  // namespace attrcache
