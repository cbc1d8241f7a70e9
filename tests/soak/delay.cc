// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <sched.h>
#include <time.h>

#include <cstdint>

#include "tests/soak/delayed_atomic.h"

namespace attrcache::soak {

void maybe_delay() {
  thread_local uint64_t state = reinterpret_cast<uintptr_t>(&state) | 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  const uint64_t dice = state >> 32;
  if (dice % 32 != 0) return;
  if (dice % 4096 == 0) {
    const timespec moment = {0, 1000};
    nanosleep(&moment, nullptr);
  } else if (dice % 128 == 0) {
    sched_yield();
  } else {
    for (uint64_t i = dice >> 8 & 0xff; i > 0; --i) asm volatile("");
  }
}

}  // namespace attrcache::soak
