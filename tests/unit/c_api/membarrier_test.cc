// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The kernel's fence is for borrows alone: a process that never borrows doesn't call membarrier, and
// one that does calls it once or twice for a value that was borrowed often.

#include <gtest/gtest.h>

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "tests/support/recorder.h"
#include "tests/support/threads.h"

// ThreadSanitizer has no membarrier, and its own way with signals.
#if defined(SYS_membarrier) && defined(PR_SET_SECCOMP) && defined(SECCOMP_RET_TRAP) && \
    !defined(ATTRCACHE_TESTS_UNDER_TSAN) && (defined(__x86_64__) || defined(__aarch64__))

namespace attrcache::support {
namespace {

volatile sig_atomic_t calls = 0;
volatile sig_atomic_t refused = true;

// Answers a call of membarrier, as a kernel that has none or as one that has all of its commands.
// It executes no fence, which a process of one thread doesn't miss.
void answer(int, siginfo_t*, void* context) {
  calls = calls + 1;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
#ifdef __x86_64__
  const auto command = registers.gregs[REG_RDI];
  auto& result = registers.gregs[REG_RAX];
#else
  const auto command = registers.regs[0];
  auto& result = registers.regs[0];
#endif
  const bool asks = command == 0;  // which commands there are
  result = refused ? -ENOSYS : asks ? 0xff : 0;
}

// From now on the process counts its calls of membarrier. False if it can't.
bool count_calls() {
  struct sigaction action = {};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO;
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the number of the system call
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};
  return sigaction(SIGSYS, &action, nullptr) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

int copy_fn(void*, int, void*, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = in;
  *flag = 1;
  return 0;
}
int delete_fn(void*, int, void*, void*) { return 0; }

struct Process {
  void end() { attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_ANYWAY, nullptr); }
  int borrow(Object& object, int borrows) {
    for (int i = 0; i < borrows; ++i) {
      attrcache_borrowed borrowed = {};
      if (attrcache_borrow(kind, &object.table, keyval, &borrowed) != ATTRCACHE_OK) return __LINE__;
      if (attrcache_give_back(&borrowed) != ATTRCACHE_OK) return __LINE__;
    }
    return 0;
  }
  int borrow_and_replace(Object& object, int borrows) {
    if (const int line = borrow(object, borrows)) return line;
    return object.set(keyval, 2) == ATTRCACHE_OK ? 0 : __LINE__;
  }
  attrcache_domain* domain = Universe().release();
  attrcache_kind* kind = kind_of(domain, ATTRCACHE_COMMUNICATOR);
  int keyval = make_keyval(kind, callback(copy_fn), callback(delete_fn));
};

// Runs body() in a child that counts; its exit status is 0 if body() returns 0.
constexpr int kCannotCount = 255;
template <typename Body>
void in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(count_calls() ? body() : kCannotCount);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kCannotCount) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the line that failed";
}

// Values that are each borrowed once and then replaced cost none either, however many.
TEST(MembarrierTest, NoneWithoutBorrowsOrForOneOfEach) {
  in_child([] {
    Process p;
    Object object(p.kind);
    object.set(p.keyval, 1);
    run_threads(4, [&](int t) {
      Object copy(p.kind);
      for (int i = 0; i < 100; ++i) {
        object.copy_to(copy);
        object.set(p.keyval, 100 * t + i);
        if (i % 10 == 0) object.erase(p.keyval);
        copy.free();
      }
    });
    if (calls != 0) return __LINE__;
    object.set(p.keyval, 1);
    for (int i = 0; i < 1000; ++i) {
      if (const int line = p.borrow_and_replace(object, 1)) return line;
    }
    object.free();
    p.end();
    return calls == 0 ? 0 : __LINE__;
  });
}

// Whoever deletes a value that was borrowed often asks for a fence before it looks for holders;
// and, if it finds one, for another when it has handed the deletion off.
TEST(MembarrierTest, OneForALightValueAndTwoIfItIsHeld) {
  in_child([] {
    refused = false;
    Process p;
    Object object(p.kind);
    object.set(p.keyval, 1);
    if (const int line = p.borrow_and_replace(object, 100)) return line;
    const int first = calls;  // with the question whether there is such a fence
    for (int i = 0; i < 10; ++i) {
      if (const int line = p.borrow_and_replace(object, 100)) return line;
    }
    if (calls != first + 10) return __LINE__;
    for (int i = 0; i < 10; ++i) {
      if (const int line = p.borrow(object, 100)) return line;
      attrcache_borrowed held = {};
      if (attrcache_borrow(p.kind, &object.table, p.keyval, &held) != ATTRCACHE_OK) return __LINE__;
      if (object.set(p.keyval, 2) != ATTRCACHE_OK) return __LINE__;
      if (attrcache_give_back(&held) != ATTRCACHE_OK) return __LINE__;
    }
    if (calls != first + 10 + 20) return __LINE__;
    object.free();
    p.end();
    return 0;
  });
}

// Here the kernel refuses, so all readers stay full ones.
TEST(MembarrierTest, OneThatFailsIsTheLast) {
  in_child([] {
    Process p;
    Object object(p.kind);
    object.set(p.keyval, 1);
    for (int i = 0; i < 10; ++i) {
      if (const int line = p.borrow_and_replace(object, 1000)) return line;
    }
    object.free();
    p.end();
    return calls == 1 ? 0 : __LINE__;  // the question whether there is such a fence
  });
}

}  // namespace
}  // namespace attrcache::support

#endif
