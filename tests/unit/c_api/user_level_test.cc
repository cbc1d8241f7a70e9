// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// User-level threads, as Argobots and Qthreads have them: switched within callbacks, and moved from
// one thread of the operating system to another. ThreadSanitizer and AddressSanitizer can't
// follow such switches by themselves.

#include <ucontext.h>

#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ATTRCACHE_SWITCHES_ARE_SEEN 0
#else
#define ATTRCACHE_SWITCHES_ARE_SEEN 1
#endif

// Runs until it yields, on whichever thread of the operating system resumes it.
class UserLevelThread {
 public:
  explicit UserLevelThread(std::function<void()> body) : body_(std::move(body)), stack_(1 << 18) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.data();
    context_.uc_stack.ss_size = stack_.size();
    const auto bits = reinterpret_cast<uintptr_t>(this);
    makecontext(&context_, reinterpret_cast<void (*)()>(&run), 2,
                static_cast<unsigned>(uint64_t{bits} >> 32), static_cast<unsigned>(bits));
  }
  // Runs it until it yields or ends; returns whether it has ended.
  bool resume() {
    if (ended_) abort();  // its return would end the test, with success
    UserLevelThread* const outer = running();
    set_running(this);
    swapcontext(&resumer_, &context_);
    set_running(outer);
    return ended_;
  }
  void finish() {
    while (!resume()) {
    }
  }
  [[gnu::noinline]] static void yield() {
    UserLevelThread* const self = running();
    if (self == nullptr) return;  // the test itself, which ends
    swapcontext(&self->context_, &self->resumer_);
  }

  static attrcache_thread* self_hook(void*) {
    return running() != nullptr ? &running()->state_ : nullptr;
  }

 private:
  // Never inline: the address of a thread-local variable must not be kept across a switch.
  [[gnu::noinline]] static UserLevelThread* running() { return running_; }
  [[gnu::noinline]] static void set_running(UserLevelThread* thread) { running_ = thread; }
  static void run(unsigned high, unsigned low) {
    auto* self =
        reinterpret_cast<UserLevelThread*>(static_cast<uintptr_t>(uint64_t{high} << 32 | low));
    self->body_();
    self->ended_ = true;
    yield();
  }

  static thread_local UserLevelThread* running_;
  std::function<void()> body_;
  std::vector<char> stack_;
  ucontext_t context_ = {};
  ucontext_t resumer_ = {};
  bool ended_ = false;
  attrcache_thread state_ = {};
};
thread_local UserLevelThread* UserLevelThread::running_ = nullptr;

class UserLevelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ATTRCACHE_SWITCHES_ARE_SEEN) GTEST_SKIP() << "a sanitizer doesn't see the switches";
  }
  static int yield_in_delete_fn(const Call&) {
    UserLevelThread::yield();
    return 0;
  }

  attrcache_thread_hooks hooks = {&UserLevelThread::self_hook, nullptr};
  attrcache_domain_options options = with(&attrcache_domain_options::threads, &hooks);
  Recorder recorder;
  Universe universe{&options};
  attrcache_kind* kind = universe.kind();
  int keyval = recorder.keyval(kind);
  Object object{kind}, copy{kind};
};

// Two on one thread of the operating system. The first is within copy_fn when the second deletes
// what it copies: that isn't the second's own copy, so the deletion is handed off to the first.
TEST_F(UserLevelTest, ADeletionIsLeftToAnotherOnesCopyOnTheSameThread) {
  ASSERT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
  recorder.on_copy = [&](const Call& call, void** out, int* flag) {
    UserLevelThread::yield();
    EXPECT_EQ(object.value(keyval), Object::kAbsent);
    EXPECT_TRUE(recorder.deletions.empty()) << "deleted while it is copied";
    return copy_as(call.value + 10, out, flag);
  };
  UserLevelThread copier([&] { EXPECT_EQ(object.copy_to(copy), ATTRCACHE_OK); });
  UserLevelThread deleter([&] { EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK); });
  EXPECT_FALSE(copier.resume());
  EXPECT_TRUE(deleter.resume()) << "nobody waits";
  EXPECT_TRUE(copier.resume());
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1}));
  EXPECT_EQ(copy.value(keyval), 11);
}

// A switch within a delete_fn that a set runs: others find the new value.
TEST_F(UserLevelTest, SwitchedWithinDeleteFn) {
  ASSERT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
  recorder.on_delete = yield_in_delete_fn;
  UserLevelThread replacer([&] { EXPECT_EQ(object.set(keyval, 2), ATTRCACHE_OK); });
  attrcache_borrowed borrowed = {};
  UserLevelThread borrower([&] {
    EXPECT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed), ATTRCACHE_OK);
    EXPECT_EQ(borrowed.value, reinterpret_cast<void*>(2));
    UserLevelThread::yield();
    EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  });
  EXPECT_FALSE(replacer.resume());
  EXPECT_FALSE(borrower.resume());
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_ERR_THREAD);
  EXPECT_EQ(object.free(), ATTRCACHE_ERR_BUSY) << "the set isn't over, and the new value is held";
  EXPECT_TRUE(replacer.resume());
  borrower.finish();
}

// Frees by user-level threads on one thread of the operating system ignore each other's stacks.
TEST_F(UserLevelTest, SwitchedWithinFreesThatNest) {
  ASSERT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
  ASSERT_EQ(copy.set(keyval, 2), ATTRCACHE_OK);
  recorder.on_delete = yield_in_delete_fn;
  UserLevelThread first([&] { EXPECT_EQ(object.free(), ATTRCACHE_OK); });
  UserLevelThread second([&] { EXPECT_EQ(copy.free(), ATTRCACHE_OK); });
  EXPECT_FALSE(first.resume());
  EXPECT_FALSE(second.resume());
  EXPECT_TRUE(first.resume()) << "first in, first out, unlike calls on a stack";
  EXPECT_TRUE(second.resume());
  EXPECT_TRUE(object.all_zero());
  EXPECT_TRUE(copy.all_zero());
}

// Calls begin on one thread of the operating system and end on another, as do borrows. By then the
// first has ended, and its thread-local memory is gone.
TEST_F(UserLevelTest, MigratesBetweenThreads) {
  ASSERT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
  recorder.on_copy = [&](const Call& call, void** out, int* flag) {
    UserLevelThread::yield();
    return copy_as(call.value + 10, out, flag);
  };
  recorder.on_delete = yield_in_delete_fn;
  UserLevelThread traveller([&] {
    EXPECT_EQ(object.copy_to(copy), ATTRCACHE_OK);
    attrcache_borrowed borrowed = {};
    EXPECT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed), ATTRCACHE_OK);
    UserLevelThread::yield();
    EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
    EXPECT_EQ(object.set(keyval, 2), ATTRCACHE_OK);
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
    EXPECT_EQ(copy.free(), ATTRCACHE_OK);
  });
  bool ended = false;
  int steps = 0;
  while (!ended) {
    std::thread([&] { ended = traveller.resume(); }).join();
    ++steps;
  }
  EXPECT_EQ(steps, 6);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1, 2, 11}));
  EXPECT_EQ(universe.counters().attributes, 0u);
}

// A cell that is given back on another thread of the operating system is found again on its own.
TEST_F(UserLevelTest, BorrowsThatMigrateNeedNoMoreMemory) {
  static int blocks = 0;
  const auto allocate = [](size_t bytes, size_t, void*) { return ++blocks, std::malloc(bytes); };
  const attrcache_allocator counting = {allocate, [](void* block, void*) { std::free(block); }, {}};
  options.allocator = &counting;
  Universe other{&options};
  const int number = Recorder::make(other.kind(), {});
  Object from{other.kind()};
  ASSERT_EQ(from.set(number, 1), ATTRCACHE_OK);
  UserLevelThread traveller([&] {
    for (int i = 0; i < 100; ++i) {
      attrcache_borrowed borrowed = {};
      EXPECT_EQ(attrcache_borrow(other.kind(), &from.table, number, &borrowed), ATTRCACHE_OK);
      UserLevelThread::yield();
      EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
      UserLevelThread::yield();
    }
  });
  int at_first = 0;
  for (int i = 0; i < 100; ++i) {
    traveller.resume();
    std::thread([&] { traveller.resume(); }).join();
    if (i == 0) at_first = blocks;
  }
  EXPECT_EQ(blocks, at_first);
}

}  // namespace
}  // namespace attrcache::support
