// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/asymmetric_fence.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vector>

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "platform/wait.h"
#include "tests/support/threads.h"

namespace attrcache {
namespace {

// A reader announces 1, 2, 3 ... and looks each time; a writer changes to 1, 2, ... `changes` and
// looks each time. Returns how often neither saw the other: after a change, the writer saw
// announcement l, though the reader hadn't seen the change after announcing l + 1 or more.
using Of = AsymmetricFence::Of;
unsigned both_missed(Of readers, unsigned changes) {
  alignas(128) Atomic<unsigned> cell{0};
  alignas(128) Atomic<unsigned> what{0};
  Atomic<bool> ended{false};
  std::vector<unsigned> seen_by(changes + 1);  // the announcement after which each change was seen
  std::vector<unsigned> looked(changes + 1);   // the announcement that was seen after each change
  support::run_threads(2, [&](int t) {
    if (t == 0) {
      for (unsigned announced = 1, seen = 0;; ++announced) {
        AsymmetricFence::announce(cell, announced);
        if (readers == Of::kFull) full_fence();
        const unsigned now = what.load(kAcquire);
        while (seen < now) seen_by[++seen] = announced;
        if (ended.load(kRelaxed)) return;
      }
    } else {
      for (unsigned change = 1; change <= changes; ++change) {
        what.exchange(change, kAcqRel);
        AsymmetricFence::heavy_fence(readers);
        looked[change] = AsymmetricFence::look(cell);
        Backoff backoff;  // the next change comes while the reader is running
        while (cell.load(kRelaxed) == looked[change]) backoff.relax();
      }
      ended.store(true, kRelaxed);
    }
  });
  unsigned missed = 0;
  for (unsigned change = 1; change <= changes; ++change) {
    if (seen_by[change] > looked[change] + 1) ++missed;
  }
  return missed;
}

constexpr unsigned kChanges = 300;

TEST(AsymmetricFence, ReaderOrWriterSeesTheOther) {
  if (!AsymmetricFence(false).ready()) GTEST_SKIP() << "only full readers here";
  EXPECT_EQ(both_missed(Of::kLight, kChanges), 0u);
}

TEST(AsymmetricFence, FullReaderOrWriterSeesTheOther) {
  EXPECT_FALSE(AsymmetricFence(true).ready());
  EXPECT_EQ(both_missed(Of::kFull, kChanges), 0u);
}

// A child's exit status: 0 if all is well, kNoFilter, or the line of what failed.
constexpr int kNoFilter = 255;
template <typename Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(AsymmetricFence, HoldsInForkedChildren) {
  if (!AsymmetricFence(false).ready()) GTEST_SKIP() << "only full readers here";
  EXPECT_EQ(in_child([&] { return both_missed(Of::kLight, 100) == 0 ? 0 : __LINE__; }), 0);
}

#if defined(SYS_membarrier) && defined(PR_SET_SECCOMP)
// Forbids this process to call membarrier. False if the system can't.
bool forbid() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the number of the system call
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 &&
         syscall(SYS_membarrier, 0, 0, 0) != 0;
}

// Then light readers stay light, and the writer waits until their stores must be visible.
TEST(AsymmetricFence, TakesItsTimeWhenTheKernelRefusesLater) {
  const int result = in_child([] {
    if (!AsymmetricFence(false).ready() || !forbid()) return kNoFilter;
    timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    AsymmetricFence::heavy_fence(Of::kLight);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const long long took =
        (end.tv_sec - begin.tv_sec) * 1'000'000'000LL + (end.tv_nsec - begin.tv_nsec);
    if (took < 20'000'000) return __LINE__;  // at least: this fails on no slow machine
    return both_missed(Of::kLight, 20) == 0 ? 0 : __LINE__;
  });
  if (result == kNoFilter) GTEST_SKIP() << "no such fence, or no filters of system calls here";
  EXPECT_EQ(result, 0);
}
#endif

}  // namespace
}  // namespace attrcache
