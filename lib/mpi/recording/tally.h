// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Counts how often each keyval was read, per thread, in thread-local storage, by the keyval's
// index. A get adds one in two instructions, and doesn't look which thread it is in: the threads
// are known because they are registered when they are created (thread.cc).
//
// Later keyvals use the same index again. So the counters work like odometers: they are never
// reset, and the reads of one keyval are the difference between the counter when it ends and when
// it was made.

#ifndef ATTRCACHE_MPI_RECORDING_TALLY_H_
#define ATTRCACHE_MPI_RECORDING_TALLY_H_

#include <cstddef>
#include <cstdint>

#include "keyval/id.h"
#include "mpi/native/kinds.h"
#include "platform/atomic.h"
#include "table/table.h"

namespace attrcache::mpi::report {

// Keyvals with a larger index are counted on the slow path that their gets take anyway (keyvals.h).
inline constexpr uint32_t kCountedIndices = kDirectorySlots;

// As large as a slot, so that a keyval's offset is also that of its counters. Each counter is
// written by its own thread alone. The accesses are relaxed because they order nothing.
struct Gets {
  Atomic<uint64_t> found;
  Atomic<uint64_t> absent;
};
static_assert(sizeof(Gets) == 1u << id::kIndexShift);

struct Tally {
  Gets gets[kMpiKinds][kCountedIndices];
};
// It has a name without mangling for the assembler code below.
[[gnu::visibility("hidden")]] extern thread_local constinit Tally this_tally asm(
    "attrcache_report_tally") __attribute__((tls_model("initial-exec")));

// Adds one for the keyval at `offset`, which must be below kCountedIndices.
template <int kKind, size_t kAt>
[[gnu::always_inline]] inline void count_get(uint64_t offset) {
#if defined(__x86_64__)
  // Written in assembler because the compiler would compute the address first, in one more
  // instruction. A single instruction changes memory, so a reader in another thread sees the old
  // count or the new.
  uint64_t base;
  asm volatile(
      "movq attrcache_report_tally@gottpoff(%%rip), %[base]\n\t"
      "addq $1, %%fs:%c[at](%[base],%[offset])"
      : [base] "=&r"(base)
      : [offset] "r"(offset), [at] "i"(kKind * sizeof(Gets) * kCountedIndices + kAt)
      : "cc");
#else
  char* gets = reinterpret_cast<char*>(this_tally.gets[kKind]);
  auto& counter = *reinterpret_cast<Atomic<uint64_t>*>(gets + offset + kAt);
  counter.store(counter.load(kRelaxed) + 1, kRelaxed);
#endif
}

// Takes back one that count_get has counted as absent although there is no such keyval.
void uncount_absent(int kind, int keyval);

struct Sum {
  uint64_t found = 0;
  uint64_t absent = 0;
};

// The sum over all threads, including those that have ended. Any thread may call it. It takes a
// lock that is held for a few memory accesses per living thread.
Sum sum_of(int kind, uint32_t index);

// Counts the calling thread's gets from now on until it ends. A second call does nothing.
void watch_this_thread();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_RECORDING_TALLY_H_
