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

#ifdef ATTRCACHE_HAS_FUTEX
long futex(const uint32_t* word, int operation, uint32_t value) {
  return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
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

void SlotWait::until_changed(const Pair& slot, uint64_t meta) {
  constexpr unsigned kSpins = 64;
  constexpr unsigned kYields = kSpins + 256;
  if (round_ < kYields) {
    if (++round_ <= kSpins) {
      pause();
    } else {
      sched_yield();
    }
    return;
  }
#ifdef ATTRCACHE_HAS_FUTEX
  // Whether the thread was woken, the slot had changed already, or a signal came: the caller looks
  // again. Where futexes are forbidden (by a seccomp filter, say), short naps take their place.
  const auto upper = static_cast<uint32_t>(meta >> 32);
  if (futex(slot.upper_half_of_meta(), FUTEX_WAIT, upper) == 0 || errno == EAGAIN ||
      errno == EINTR) {
    return;
  }
#else
  static_cast<void>(slot);
  static_cast<void>(meta);
#endif
  nap(20'000);
}

#ifdef ATTRCACHE_HAS_FUTEX
void wake(const Pair& slot) { futex(slot.upper_half_of_meta(), FUTEX_WAKE, INT_MAX); }
#else
void wake(const Pair&) {}
#endif

}  // namespace attrcache
