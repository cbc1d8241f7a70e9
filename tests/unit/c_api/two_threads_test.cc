// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"
#include "tests/support/threads.h"

namespace attrcache::support {
namespace {

// The guarantees for concurrent calls, each in a fixed schedule of two threads that shows it.

class TwoThreadsTest : public ::testing::Test {
 protected:
  // Starts to delete `of` in another thread, which stays inside delete_fn. That will return
  // `answer`.
  void start_deleting(int code) {
    recorder.on_delete = [this, code](const Call& call) {
      if (call.value != 1) return 0;
      inside.open();
      go_on.wait();
      return code;
    };
    deleter = std::thread([this] { result = object.erase(keyval, &result_code); });
    inside.wait();
  }
  int finish_deleting() {
    go_on.open();
    deleter.join();
    recorder.on_delete = nullptr;
    return result;
  }

  Recorder recorder;  // outlives the domain, whose end runs destructors
  Universe universe;
  attrcache_kind* kind = universe.kind();
  int keyval = recorder.keyval(kind);
  Object object{kind};
  Gate inside, go_on;
  std::thread deleter;
  int result = -1;
  int result_code = 0;
};

TEST_F(TwoThreadsTest, AnAttributeStaysVisibleWhileItsDeleteFnRuns) {
  object.set(keyval, 1);
  start_deleting(0);
  EXPECT_EQ(object.value(keyval), 1);
  EXPECT_EQ(finish_deleting(), ATTRCACHE_OK);
  EXPECT_EQ(object.value(keyval), Object::kAbsent);
}

TEST_F(TwoThreadsTest, ADeleteThatFindsItBeingDeletedReturnsSuccessAtOnce) {
  object.set(keyval, 1);
  start_deleting(0);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(object.value(keyval), Object::kAbsent) << "a delete that has returned says otherwise";
  EXPECT_EQ(finish_deleting(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deletions.size(), 1u);
}

TEST_F(TwoThreadsTest, ASetThatFindsItBeingDeletedAttachesItsOwnAtOnce) {
  object.set(keyval, 1);
  start_deleting(0);
  EXPECT_EQ(object.set(keyval, 2), ATTRCACHE_OK);
  EXPECT_EQ(object.value(keyval), 2);
  EXPECT_EQ(finish_deleting(), ATTRCACHE_OK);
  EXPECT_EQ(object.value(keyval), 2);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1}));
}

TEST_F(TwoThreadsTest, IfThenTheDeleteFnFailsItsValueCannotComeBackAfterADelete) {
  object.set(keyval, 1);
  start_deleting(5);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(finish_deleting(), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(result_code, 5);
  EXPECT_EQ(object.value(keyval), Object::kAbsent);
  EXPECT_EQ(universe.counters().attributes, 0u);
}

TEST_F(TwoThreadsTest, IfThenTheDeleteFnFailsItsValueCannotComeBackAfterASet) {
  object.set(keyval, 1);
  start_deleting(5);
  EXPECT_EQ(object.set(keyval, 2), ATTRCACHE_OK);
  EXPECT_EQ(finish_deleting(), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(object.value(keyval), 2);
  EXPECT_EQ(universe.counters().attributes, 1u);
}

TEST_F(TwoThreadsTest, SetAfterAHidingDelete) {
  object.set(keyval, 1);
  start_deleting(5);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(object.set(keyval, 2), ATTRCACHE_OK);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deletions.size(), 2u);
  EXPECT_EQ(object.set(keyval, 3), ATTRCACHE_OK);
  EXPECT_EQ(finish_deleting(), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(object.value(keyval), 3);
}

TEST_F(TwoThreadsTest, ACopyMaySkipWhatIsBeingDeleted) {
  Object to(kind);
  object.set(keyval, 1);
  start_deleting(0);
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
  EXPECT_EQ(to.value(keyval), Object::kAbsent);
  EXPECT_TRUE(recorder.copies.empty());
  finish_deleting();
}

TEST_F(TwoThreadsTest, ABorrowOfWhatIsBeingDeletedIsAbsent) {
  attrcache_borrowed borrowed = {};
  object.set(keyval, 1);
  start_deleting(0);
  EXPECT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed), ATTRCACHE_ABSENT);
  finish_deleting();
}

// A delete that runs a delete_fn is two steps: it begins, and it ends or fails.
TEST_F(TwoThreadsTest, AfterAFailedDeleteABorrowFindsAgainWhatGetAlwaysFound) {
  attrcache_borrowed borrowed = {};
  object.set(keyval, 1);
  start_deleting(7);
  EXPECT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed), ATTRCACHE_ABSENT);
  EXPECT_EQ(object.value(keyval), 1);
  EXPECT_EQ(finish_deleting(), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
}

TEST_F(TwoThreadsTest, TheKeyvalFreedWhileADeleteFnRunsEndsAfterIt) {
  object.set(keyval, 1);
  start_deleting(0);
  EXPECT_EQ(free_keyval(kind, keyval), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 0);
  EXPECT_EQ(finish_deleting(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 1);
}

TEST_F(TwoThreadsTest, FreeingTheObjectWhileADeleteFnRunsIsDiagnosed) {
  object.set(keyval, 1);
  start_deleting(0);
  EXPECT_EQ(object.free(), ATTRCACHE_ERR_BUSY);
  EXPECT_EQ(finish_deleting(), ATTRCACHE_OK);
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
}

TEST_F(TwoThreadsTest, ADeletingAttributeIsListedAsSuch) {
  object.set(keyval, 1);
  start_deleting(0);
  ASSERT_EQ(object.list().size(), 1u);
  EXPECT_TRUE(object.list()[0].deleting);
  finish_deleting();
  EXPECT_TRUE(object.list().empty());
}

// ---- Copy and delete of one value don't overlap -------------------------------------------------

enum class Replacing { kNo, kYes };

class CopyExclusionTest : public ::testing::TestWithParam<Replacing> {
 public:
  Recorder recorder;  // outlives the domain, whose end runs destructors
  Universe universe;
  attrcache_kind* kind = universe.kind();
  int keyval = recorder.keyval(kind);
  Object object{kind};
  Object to{kind};
  int second = ATTRCACHE_KEYVAL_INVALID;

  int end_value() {
    return GetParam() == Replacing::kYes ? object.set(keyval, 9) : object.erase(keyval);
  }
};

TEST_P(CopyExclusionTest, TheDeletionWaitsForTheCopyFn) {
  object.set(keyval, 1);
  Gate copying;
  std::atomic<bool> copied{false};
  recorder.on_copy = [&](const Call& call, void** out, int* flag) {
    copying.open();
    // Gives the other thread time to begin its wait. If it hasn't, the test shows less but passes.
    for (int i = 0; i < 300; ++i) sched_yield();
    EXPECT_TRUE(recorder.deletions.empty());
    *out = reinterpret_cast<void*>(call.value + 1);
    *flag = 1;
    copied = true;
    return 0;
  };
  recorder.on_delete = [&](const Call& call) {
    if (call.value == 1) {
      EXPECT_TRUE(copied);
    }
    return 0;
  };
  std::thread other([&] {
    copying.wait();
    EXPECT_EQ(end_value(), ATTRCACHE_OK);
  });
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
  other.join();
  EXPECT_EQ(to.value(keyval), 2);
  EXPECT_EQ(object.value(keyval), GetParam() == Replacing::kYes ? 9 : Object::kAbsent);
  recorder.on_delete = nullptr;
}

TEST_P(CopyExclusionTest, ACopyFnThatDeletesItWhileAnotherThreadCopiesItToo) {
  // Each copy_fn's delete gives up its own thread's pin. Otherwise the two would wait for each
  // other.
  object.set(keyval, 1);
  std::barrier<> both(2);
  attrcache_callbacks callbacks = {};
  struct State {
    std::barrier<>* both;
    CopyExclusionTest* test;
    std::atomic<int> deleted{0};
  } state{&both, this, {}};
  callbacks.extra_state = &state;
  callbacks.copy_fn = reinterpret_cast<attrcache_callback*>(
      +[](void*, int, void* extra, void* in, void* out, int* flag) {
        auto* s = static_cast<State*>(extra);
        s->both->arrive_and_wait();
        EXPECT_EQ(s->test->object.erase(s->test->second), ATTRCACHE_OK);
        *static_cast<void**>(out) = in;
        *flag = 1;
        return 0;
      });
  callbacks.delete_fn =
      reinterpret_cast<attrcache_callback*>(+[](void* object, int, void*, void* extra) {
        auto* s = static_cast<State*>(extra);
        s->deleted += object == &s->test->object;
        return 0;
      });
  second = Recorder::make(kind, callbacks);
  object.erase(keyval);
  object.set(second, 1);
  Object to2(kind);
  std::thread other([&] { EXPECT_EQ(object.copy_to(to2), ATTRCACHE_OK); });
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
  other.join();
  EXPECT_EQ(state.deleted, 1);
  EXPECT_EQ(to.value(second), 1);
  EXPECT_EQ(to2.value(second), 1);
  EXPECT_EQ(object.value(second), Object::kAbsent);
  to.free();
  to2.free();
  EXPECT_EQ(free_keyval(kind, second), ATTRCACHE_OK);
}

INSTANTIATE_TEST_SUITE_P(Deletions, CopyExclusionTest,
                         ::testing::Values(Replacing::kNo, Replacing::kYes));

// ---- Callbacks that delete each other's attributes ----------------------------------------------

TEST(MutualDeletionTest, TwoThreadsWhoseDeleteFnsDeleteEachOthersAttribute) {
  // PETSc does this: an inner and an outer communicator refer to each other.
  Recorder ra, rb;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  Object a(kind), b(kind);
  const int ka = ra.keyval(kind), kb = rb.keyval(kind);
  std::barrier<> both(2);
  ra.on_delete = [&](const Call&) {
    both.arrive_and_wait();
    return b.erase(kb);
  };
  rb.on_delete = [&](const Call&) {
    both.arrive_and_wait();
    return a.erase(ka);
  };
  a.set(ka, 1);
  b.set(kb, 2);
  std::thread other([&] { EXPECT_EQ(a.erase(ka), ATTRCACHE_OK); });
  EXPECT_EQ(b.erase(kb), ATTRCACHE_OK);
  other.join();
  EXPECT_EQ(ra.deletions.size(), 1u);
  EXPECT_EQ(rb.deletions.size(), 1u);
}

TEST(MutualDeletionTest, OneThreadWhoseDeleteFnsDeleteEachOthersAttribute) {
  Recorder ra, rb;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  Object a(kind), b(kind);
  const int ka = ra.keyval(kind), kb = rb.keyval(kind);
  ra.on_delete = [&](const Call&) { return b.erase(kb); };
  rb.on_delete = [&](const Call&) { return a.erase(ka); };
  a.set(ka, 1);
  b.set(kb, 2);
  EXPECT_EQ(a.erase(ka), ATTRCACHE_OK);
  EXPECT_EQ(ra.deletions.size(), 1u);
  EXPECT_EQ(rb.deletions.size(), 1u);
}

}  // namespace
}  // namespace attrcache::support
