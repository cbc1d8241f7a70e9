// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What lib/include/README.md says about fork: the child goes on where the parent was.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/support/recorder.h"
#include "tests/support/threads.h"

namespace attrcache::support {
namespace {

constexpr int kOthers = 3;

// The child's exit status is the number of the check that failed.
void expect_success(pid_t child) {
  ASSERT_GE(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Other threads have used the library before the fork, and none is inside it at the fork. The
// child, in which these threads don't exist, must not wait for any of them, and can delete and free
// everything, in new threads too.
class ForkAmongThreads : public ApiTest {
 protected:
  // Every operation, on an object of the thread's own and on one that all threads share.
  void use(Object& own) {
    attrcache_borrowed borrowed = {};
    for (int i = 0; i < 300; ++i) {
      const int keyval = Recorder::make(kind, {});
      own.set(keyval, i);
      if (i % 3 != 0) free_keyval(kind, keyval);
      if (attrcache_borrow(kind, &shared.table, served, &borrowed) == ATTRCACHE_OK) {
        EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
      }
      EXPECT_EQ(shared.set(no_callbacks, i), ATTRCACHE_OK);
      Object copy(kind);
      EXPECT_EQ(own.copy_to(copy), ATTRCACHE_OK);
      if (i % 2 == 0) own.erase(keyval);
    }
  }

  // Deletes and frees everything. Returns 0, or the number of the failed check.
  int child() {
    alarm(60);  // in case it waits for a thread that doesn't exist
// Under ThreadSanitizer and qemu, a child of a process with threads can't start threads.
#if !defined(ATTRCACHE_TESTS_UNDER_TSAN) && !defined(ATTRCACHE_TESTS_EMULATED)
    Object fresh[kOthers] = {Object(kind), Object(kind), Object(kind)};
    run_threads(kOthers, [&](int t) { use(fresh[t]); });
    for (Object& object : fresh) {
      if (object.free() != ATTRCACHE_OK) return 1;
    }
#endif
    recorder.deletions.clear();
    if (shared.set(served, 8) != ATTRCACHE_OK || recorder.deleted() != std::vector<intptr_t>{7}) {
      return 2;
    }
    if (free_keyval(kind, served) != ATTRCACHE_OK || recorder.destructions != 0) return 3;
    if (free_keyval(kind, no_callbacks) != ATTRCACHE_OK) return 4;
    for (Object& object : objects) {
      if (object.free() != ATTRCACHE_OK) return 5;
    }
    if (recorder.destructions != 0 || shared.free() != ATTRCACHE_OK) return 6;
    if (recorder.destructions != 1) return 7;
    if (recorder.deletions.size() != 1 + kOthers + 1) return 8;
    const attrcache_counters counters = universe.counters();
    if (counters.attributes != 0 || counters.reclaimable != 0) return 9;
    return attrcache_domain_destroy(universe.release(), ATTRCACHE_DESTROY_IF_UNUSED, nullptr);
  }

  const int served = recorder.keyval_uncopied(kind);
  const int no_callbacks = Recorder::make(kind, {});
  Object shared{kind};
  Object objects[kOthers] = {Object(kind), Object(kind), Object(kind)};
};

TEST_F(ForkAmongThreads, TheChildNeedsNoneOfThem) {
  shared.set(served, 7);
  std::atomic<int> done{0};
  Gate forked;
  std::vector<std::thread> threads;
  for (int t = 0; t < kOthers; ++t) {
    threads.emplace_back([&, t] {
      use(objects[t]);
      EXPECT_EQ(objects[t].set(served, 100 + t), ATTRCACHE_OK);
      ++done;
      // Not in forked.wait(): the child would inherit the standard library's record of a waiting
      // thread, half written, and its own threads could miss each other's notifications.
      wait_until([&] { return forked.is_open(); });
      use(objects[t]);  // the parent goes on, too
    });
  }
  wait_until([&] { return done == kOthers; });

  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  forked.open();
  for (std::thread& thread : threads) thread.join();
  expect_success(pid);
  EXPECT_EQ(shared.value(served), 7) << "the parent keeps what the child has replaced";
}

// A thread is within a delete_fn at the fork, and another holds a value. In the child neither goes
// on: no call waits for them, but what they have keeps the objects from being freed.
TEST_F(ForkAmongThreads, WhatOthersAreDoingStaysSo) {
  Gate entered, held, forked;
  shared.set(served, 7);
  objects[0].set(served, 6);
  recorder.on_delete = [&](const Call& call) {
    if (call.value != 7) return 0;
    entered.open();
    forked.wait();
    return 0;
  };
  std::thread deleter([&] { EXPECT_EQ(shared.erase(served), ATTRCACHE_OK); });
  std::thread borrower([&] {
    attrcache_borrowed borrowed = {};
    EXPECT_EQ(attrcache_borrow(kind, &objects[0].table, served, &borrowed), ATTRCACHE_OK);
    held.open();
    forked.wait();
    EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  });
  entered.wait();
  held.wait();

  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    if (shared.value(served) != 7 || objects[0].value(served) != 6) _exit(1);
    if (shared.free() != ATTRCACHE_ERR_BUSY || objects[0].free() != ATTRCACHE_ERR_BUSY) _exit(2);
    if (shared.set(served, 8) != ATTRCACHE_OK || objects[0].set(served, 9) != ATTRCACHE_OK)
      _exit(3);
    if (recorder.deleted() != std::vector<intptr_t>{7}) _exit(4);  // as it began in the parent
    for (Object* object : {&shared, &objects[0]}) {
      if (attrcache_table_abandon(kind, &object->table) != ATTRCACHE_OK) _exit(5);
    }
    _exit(0);
  }
  forked.open();
  deleter.join();
  borrower.join();
  expect_success(pid);
  recorder.on_delete = nullptr;
}

}  // namespace
}  // namespace attrcache::support
