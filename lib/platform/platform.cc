// SPDX-License-Identifier: Apache-2.0

#include <sched.h>
#include <time.h>

#include "platform/atomic.h"
#include "platform/pair.h"
#include "platform/thread.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace attrcache {

bool pair_supported() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx") != 0;
#elif defined(__aarch64__) && defined(ATTRCACHE_LSE2)
  return (getauxval(AT_HWCAP) & HWCAP_USCAT) != 0;
#else
  return true;
#endif
}

thread_local constinit ThreadState tls_state = {0, nullptr};

unsigned assign_ordinal() {
  // The one variable of the library that a whole process shares: it numbers threads, which belong
  // to the process too. It carries nothing of any domain. Relaxed: the number alone matters.
  static constinit Atomic<unsigned> last{0};
  unsigned ordinal = last.fetch_add(1, kRelaxed) + 1;
  if (ordinal == 0) ordinal = 1;  // after 2^32 threads: 0 means "not assigned"
  tls_state.ordinal = ordinal;
  return ordinal;
}

void Backoff::relax() {
  constexpr unsigned kSpins = 64;
  constexpr unsigned kYields = 192;
  ++round_;
  if (round_ <= kSpins) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  } else if (round_ <= kYields) {
    sched_yield();
  } else {
    const unsigned excess = round_ - kYields;
    const timespec nap = {0, excess < 100 ? 10'000L * static_cast<long>(excess) : 1'000'000L};
    nanosleep(&nap, nullptr);
  }
}

}  // namespace attrcache
