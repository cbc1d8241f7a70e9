// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/wait.h"

#include <sched.h>
#include <time.h>

namespace attrcache {

void Backoff::relax() {
  constexpr unsigned kSpins = 64;
  constexpr unsigned kYields = 192;
  ++round_;
  if (round_ <= kSpins) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  } else if (round_ <= kYields) {
    sched_yield();
  } else {
    const unsigned excess = round_ - kYields;
    const timespec time = {0, excess < 100 ? 10'000L * static_cast<long>(excess) : 1'000'000L};
    nanosleep(&time, nullptr);
  }
}

}  // namespace attrcache
