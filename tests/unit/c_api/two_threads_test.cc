// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <optional>

#include "tests/support/recorder.h"
#include "tests/support/threads.h"

namespace attrcache::support {
namespace {

// The guarantees for concurrent calls, each in a fixed schedule of two threads that shows it.

class TwoThreadsTest : public ApiTest {
 protected:
  // Starts to delete the attribute in another thread, which stays inside delete_fn. That will
  // return `code`.
  void start_deleting(int code) {
    inside.emplace();
    go_on.emplace();
    recorder.on_delete = [this, code](const Call& call) {
      if (call.value != 1) return 0;
      inside->open();
      go_on->wait();
      return code;
    };
    deleter = std::thread([this] { result = object.erase(keyval, &result_code); });
    inside->wait();
  }
  int finish_deleting() {
    go_on->open();
    deleter.join();
    recorder.on_delete = nullptr;
    return result;
  }

  int keyval = recorder.keyval(kind);
  std::optional<Gate> inside, go_on;
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

TEST_F(TwoThreadsTest, IfThenTheDeleteFnFailsItsValueCannotComeBack) {
  for (const bool replaced : {false, true}) {
    object.set(keyval, 1);
    start_deleting(5);
    EXPECT_EQ(replaced ? object.set(keyval, 2) : object.erase(keyval), ATTRCACHE_OK);
    EXPECT_EQ(finish_deleting(), ATTRCACHE_ERR_CALLBACK);
    EXPECT_EQ(result_code, 5);
    EXPECT_EQ(object.value(keyval), replaced ? 2 : Object::kAbsent);
    EXPECT_EQ(universe.counters().attributes, replaced ? 1u : 0u);
  }
}

// ---- A copy holds the value that it copies ----

TEST_F(TwoThreadsTest, TheDeletionOfWhatIsCopiedIsLeftToTheCopier) {
  Object to(kind);
  for (const bool replace : {false, true}) {
    object.set(keyval, 1);
    recorder.deletions.clear();
    recorder.on_copy = [&](const Call& call, void** out, int* flag) {
      std::thread([&] {
        EXPECT_EQ(replace ? object.set(keyval, 9) : object.erase(keyval), ATTRCACHE_OK);
      }).join();
      EXPECT_TRUE(recorder.deletions.empty());
      return copy_as(call.value + 1, out, flag);
    };
    EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
    EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1}));
    EXPECT_EQ(to.value(keyval), 2);
    EXPECT_EQ(object.value(keyval), replace ? 9 : Object::kAbsent);
    EXPECT_EQ(to.free(), ATTRCACHE_OK);
  }
}

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
