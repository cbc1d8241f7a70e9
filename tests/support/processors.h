// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How many processors the library sees, for programs that must behave as on another machine: the
// number of stripes in which a domain counts references depends on it. This sched_getaffinity
// replaces glibc's, also for a shared library.

#ifndef ATTRCACHE_TESTS_SUPPORT_PROCESSORS_H_
#define ATTRCACHE_TESTS_SUPPORT_PROCESSORS_H_

#include <sched.h>

#include <cerrno>

namespace attrcache::support {

inline unsigned processors = 0;  // 0: unknown, so the library assumes as many as it can use

}  // namespace attrcache::support

extern "C" [[gnu::used, gnu::visibility("default")]] inline int sched_getaffinity(
    pid_t, size_t size, cpu_set_t* cpus) noexcept {
  if (attrcache::support::processors == 0) {
    errno = ENOSYS;
    return -1;
  }
  CPU_ZERO_S(size, cpus);
  for (unsigned cpu = 0; cpu < attrcache::support::processors; ++cpu) CPU_SET_S(cpu, size, cpus);
  return 0;
}

#endif  // ATTRCACHE_TESTS_SUPPORT_PROCESSORS_H_
