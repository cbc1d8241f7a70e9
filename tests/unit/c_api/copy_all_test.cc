// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// attrcache_copy_all (dup), on one thread.

class CopyAllTest : public ApiTest {
 protected:
  Object& from = object;
  Object to{kind};
};

TEST_F(CopyAllTest, RunsCopyFnWithTheOldObjectAndAttachesWhatItReturns) {
  const int keyval = recorder.keyval(kind);
  recorder.copy_adds = 10;
  from.set(keyval, 1);
  EXPECT_EQ(from.copy_to(to), ATTRCACHE_OK);
  ASSERT_EQ(recorder.copies.size(), 1u);
  EXPECT_EQ(recorder.copies[0].object, &from);
  EXPECT_EQ(recorder.copies[0].keyval, keyval);
  EXPECT_EQ(recorder.copies[0].value, 1);
  EXPECT_EQ(to.value(keyval), 11);
  EXPECT_EQ(from.value(keyval), 1) << "old is untouched";
}

TEST_F(CopyAllTest, FlagFalseAttachesNothing) {
  const int keyval = recorder.keyval(kind);
  recorder.copy_flag = false;
  from.set(keyval, 1);
  EXPECT_EQ(from.copy_to(to), ATTRCACHE_OK);
  EXPECT_EQ(to.value(keyval), Object::kAbsent);
  EXPECT_EQ(recorder.copies.size(), 1u);
}

TEST_F(CopyAllTest, GoesInTheOrderOfSetting) {
  std::vector<int> k = keyvals(5);
  for (const int i : {3, 0, 4, 1, 2}) from.set(k[i], i);
  from.set(k[0], 10);  // set anew: the youngest
  EXPECT_EQ(from.copy_to(to), ATTRCACHE_OK);
  EXPECT_EQ(recorder.copied(), (std::vector<intptr_t>{3, 4, 1, 2, 10}));
  recorder.deletions.clear();
  EXPECT_EQ(to.free(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{10, 2, 1, 4, 3}))
      << "the copies are in the same order";
}

TEST_F(CopyAllTest, AFailureDeletesTheCopiesAndLeavesTheNewObjectEmpty) {
  std::vector<int> k = keyvals(5);
  for (int i = 0; i < 5; ++i) from.set(k[i], i + 1);
  recorder.on_copy = [&](const Call& call, void** out, int* flag) {
    copy_as(call.value + 100, out, flag);
    return call.value == 4 ? 33 : 0;
  };
  for (const int failure_of_delete : {0, 44}) {
    recorder.copies.clear();
    recorder.deletions.clear();
    recorder.delete_code = failure_of_delete;
    int code = 0;
    EXPECT_EQ(from.copy_to(to, &code), ATTRCACHE_ERR_CALLBACK);
    EXPECT_EQ(code, 33) << "from the copy_fn that failed";
    EXPECT_EQ(recorder.copied(), (std::vector<intptr_t>{1, 2, 3, 4})) << "stops at the failure";
    EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{103, 102, 101}));
    for (const Call& call : recorder.deletions) EXPECT_EQ(call.object, &to);
    EXPECT_TRUE(to.list().empty());
    EXPECT_TRUE(to.all_zero());
    for (int i = 0; i < 5; ++i) EXPECT_EQ(from.value(k[i]), i + 1) << "old is untouched";
  }
  recorder.delete_code = 0;
}

TEST_F(CopyAllTest, AnExceptionOfCopyFnIsAFailure) {
  from.set(recorder.keyval(kind), 1);
  recorder.on_copy = [](const Call&, void**, int*) -> int { throw "up"; };
  int code = 0;
  EXPECT_EQ(from.copy_to(to, &code), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(code, ATTRCACHE_CALLBACK_THREW);
  EXPECT_TRUE(to.all_zero());
}

// A delete_fn that duplicates its object. In a delete or free, the value is attached until
// delete_fn has succeeded, so the duplicate has it, even if delete_fn fails. But a set has taken
// effect by then: the duplicate has the new value, which stays if copy_fn has copied it.
class CopyWithinDeleteTest : public CopyAllTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    attrcache_callbacks callbacks = recorder.callbacks();
    if (GetParam()) callbacks.copy_fn = ATTRCACHE_DUP_FN;
    keyval = Recorder::make(kind, callbacks);
    ASSERT_EQ(from.set(keyval, 1), ATTRCACHE_OK);
    recorder.on_delete = [this](const Call& call) {
      if (call.object != &from || call.value != 1) return 0;
      EXPECT_EQ(from.copy_to(to), ATTRCACHE_OK);
      return fails ? 7 : 0;
    };
  }
  void TearDown() override {
    EXPECT_EQ(to.value(keyval), copied);
    fails = false;
    recorder.on_delete = nullptr;
    recorder.deletions.clear();
    const bool left = from.value(keyval) != Object::kAbsent;
    EXPECT_EQ(to.free(), ATTRCACHE_OK);
    EXPECT_EQ(from.free(), ATTRCACHE_OK);
    EXPECT_EQ(recorder.deletions.size(), left ? 2u : 1u);
    EXPECT_EQ(universe.counters().attributes, 0u);
    EXPECT_EQ(free_keyval(kind, keyval), ATTRCACHE_OK);
    EXPECT_EQ(recorder.destructions, 1) << "no reference was left over";
  }

  int keyval = ATTRCACHE_KEYVAL_INVALID;
  bool fails = false;
  intptr_t copied = 1;
};

TEST_P(CopyWithinDeleteTest, OfDelete) { EXPECT_EQ(from.erase(keyval), ATTRCACHE_OK); }
TEST_P(CopyWithinDeleteTest, OfFailingDelete) {
  fails = true;
  EXPECT_EQ(from.erase(keyval), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(from.value(keyval), 1);
}
TEST_P(CopyWithinDeleteTest, OfSet) {
  copied = 2;
  EXPECT_EQ(from.set(keyval, 2), ATTRCACHE_OK);
  EXPECT_EQ(from.value(keyval), 2);
}
TEST_P(CopyWithinDeleteTest, OfFailingSet) {
  fails = true;
  copied = 2;
  const bool taken_up = !GetParam();
  EXPECT_EQ(from.set(keyval, 2), taken_up ? ATTRCACHE_OK : ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(from.value(keyval), taken_up ? 2 : 1);
}
TEST_P(CopyWithinDeleteTest, OfFree) { EXPECT_EQ(from.free(), ATTRCACHE_OK); }

std::string how(const ::testing::TestParamInfo<bool>& info) {
  return info.param ? "ByDupFn" : "ByCopyFn";
}
INSTANTIATE_TEST_SUITE_P(All, CopyWithinDeleteTest, ::testing::Bool(), how);

}  // namespace
}  // namespace attrcache::support
