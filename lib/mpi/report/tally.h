// SPDX-License-Identifier: Apache-2.0
//
// How often each keyval was read: per thread, in thread-local storage, by the keyval's place. A get
// adds one in two instructions, without looking who the thread is; threads are known because they
// are watched from their creation (thread.cc).
//
// Places are used again by later keyvals. So the counters are odometers: they are never reset, and
// whoever wants to know about one keyval reads them at its beginning and at its end.

#ifndef ATTRCACHE_MPI_REPORT_TALLY_H_
#define ATTRCACHE_MPI_REPORT_TALLY_H_

#include <cstddef>
#include <cstdint>

#include "keyval/id.h"
#include "mpi/native/kinds.h"
#include "platform/atomic.h"
#include "table/table.h"

namespace attrcache::mpi::report {

// Keyvals with a larger index are counted where their get is slow anyway (keyvals.h).
inline constexpr uint32_t kNear = kDirectorySlots;

// As large as a slot, so that a keyval's offset is that of its counters as well. Each is written by
// its own thread alone; relaxed, for it orders nothing.
struct Gets {
  Atomic<uint64_t> found;
  Atomic<uint64_t> absent;
};
static_assert(sizeof(Gets) == 1u << id::kIndexShift);

struct Tally {
  Gets gets[kKinds][kNear];
};
// A name without mangling, for the assembler.
[[gnu::visibility("hidden")]] extern thread_local constinit Tally this_tally asm(
    "attrcache_report_tally") __attribute__((tls_model("initial-exec")));

// Adds one for the keyval at `offset`, which is a near one's.
template <int kKind, size_t kAt>
[[gnu::always_inline]] inline void count_get(uint64_t offset) {
#if defined(__x86_64__)
  // The compiler would form the address first, in one more instruction. One instruction changes
  // memory, so a reader in another thread sees the old count or the new.
  uint64_t base;
  asm volatile(
      "movq attrcache_report_tally@gottpoff(%%rip), %[base]\n\t"
      "addq $1, %%fs:%c[at](%[base],%[offset])"
      : [base] "=&r"(base)
      : [offset] "r"(offset), [at] "i"(kKind * sizeof(Gets) * kNear + kAt)
      : "cc");
#else
  char* gets = reinterpret_cast<char*>(this_tally.gets[kKind]);
  auto& counter = *reinterpret_cast<Atomic<uint64_t>*>(gets + offset + kAt);
  counter.store(counter.load(kRelaxed) + 1, kRelaxed);
#endif
}

// Takes back what count_get has counted as absent: there is no such keyval.
void uncount_absent(int kind, int keyval);

struct Sum {
  uint64_t found = 0;
  uint64_t absent = 0;
};

// Of all threads that ever were. Any thread; takes a lock that is held for a few memory accesses
// per living thread.
Sum sum_of(int kind, uint32_t index);

// The calling thread is counted from now on until it ends. Again: does nothing.
void watch_this_thread();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_TALLY_H_
