// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/asymmetric_fence.h"

#include <time.h>

#include "platform/supported.h"

#if defined(__linux__) && !defined(ATTRCACHE_TSAN)
#include <sys/syscall.h>
#include <unistd.h>
#ifdef SYS_membarrier
#define ATTRCACHE_HAS_MEMBARRIER 1
#endif
#endif

namespace attrcache {

#ifdef ATTRCACHE_HAS_MEMBARRIER

namespace {

// linux/membarrier.h has them, but not where the kernel's headers are older than the kernel.
enum Command { kQuery = 0, kPrivateExpedited = 1 << 3, kRegisterPrivateExpedited = 1 << 4 };

long membarrier(Command command) { return syscall(SYS_membarrier, command, 0, 0); }

bool enter() { return membarrier(kRegisterPrivateExpedited) == 0; }

// For a process that forbids itself a system call which it was using. Readers stay light, because
// there is no way to know which of them have noticed. What remains is time. A store that a reader
// has executed waits in its processor's buffer for nanoseconds, for microseconds at the very most;
// and whatever takes the processor from the thread (the clock's interrupt, a preemption, a
// hypervisor) empties the buffer. So after this time each store from before is visible. The same
// argument, measured: Morrison and Afek, "Temporally Bounding TSO for Fence-Free Asymmetric
// Synchronization", ASPLOS 2015. Signals may wake a sleeper, and a filter may forbid sleeping: the
// clock decides.
void wait_for_store_buffers() {
  constexpr long kNanoseconds = 20'000'000;
  timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    const timespec nap = {0, 1'000'000};
    nanosleep(&nap, nullptr);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1'000'000'000LL + (now.tv_nsec - begin.tv_nsec) <
           kNanoseconds);
}

}  // namespace

bool kernel_fence_ready() {
  const long commands = membarrier(kQuery);
  return commands > 0 && (commands & kPrivateExpedited) != 0 && enter();
}

// After a registration the kernel can only fail for memory, on machines with very many processors.
// A process that has lost the registration in some way unknown to us gets it again.
void kernel_fence() {
  if (membarrier(kPrivateExpedited) == 0) return;
  if (enter() && membarrier(kPrivateExpedited) == 0) return;
  wait_for_store_buffers();
}

#else

bool kernel_fence_ready() { return false; }

void kernel_fence() {}

#endif

}  // namespace attrcache
