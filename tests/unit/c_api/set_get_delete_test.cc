// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// set, get and delete, on one thread.

class SetGetDeleteTest : public ApiTest {
 protected:
  int keyval = recorder.keyval(kind);
};

TEST_F(SetGetDeleteTest, GetGivesWhatWasSetAnyAddressSizedValue) {
  for (const intptr_t value : {intptr_t{0}, intptr_t{-1}, INTPTR_MIN, INTPTR_MAX, intptr_t{1}}) {
    EXPECT_EQ(object.set(keyval, value), ATTRCACHE_OK);
    EXPECT_EQ(object.value(keyval), value);
  }
}

TEST_F(SetGetDeleteTest, GetReturnsAbsentAndLeavesTheVariableAlone) {
  void* value = &recorder;
  EXPECT_EQ(object.get(keyval, &value), ATTRCACHE_ABSENT);
  EXPECT_EQ(value, &recorder);
}

TEST_F(SetGetDeleteTest, SetThenDeletesTheOldValue) {
  object.set(keyval, 1);
  recorder.on_delete = [&](const Call& call) {
    EXPECT_EQ(call.object, &object);
    EXPECT_EQ(call.keyval, keyval);
    EXPECT_EQ(call.value, 1);
    EXPECT_EQ(object.value(keyval), 2) << "the set has taken effect";
    return 0;
  };
  EXPECT_EQ(object.set(keyval, 2), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1}));
  EXPECT_EQ(object.value(keyval), 2);
  recorder.on_delete = nullptr;
}

TEST_F(SetGetDeleteTest, SetTheSameValueAgainDeletesItOnce) {
  object.set(keyval, 1);
  EXPECT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deletions.size(), 1u);
  EXPECT_EQ(object.value(keyval), 1);
}

TEST_F(SetGetDeleteTest, SetFailsWithTheCodeOfTheOldValuesDeleteFn) {
  object.set(keyval, 1);
  recorder.delete_code = 77;
  int code = 0;
  EXPECT_EQ(object.set(keyval, 2, &code), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(code, 77);
  EXPECT_EQ(object.value(keyval), 1) << "the old value is still attached";
  recorder.delete_code = 0;
  EXPECT_EQ(object.set(keyval, 3, &code), ATTRCACHE_OK);
  EXPECT_EQ(code, 77) << "written only with CALLBACK";
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1, 1}));
}

TEST_F(SetGetDeleteTest, TheCallbackCodeMayBeNull) {
  object.set(keyval, 1);
  recorder.delete_code = 77;
  EXPECT_EQ(object.set(keyval, 2), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_ERR_CALLBACK);
  recorder.delete_code = 0;
}

TEST_F(SetGetDeleteTest, DeleteRunsDeleteFnThenDetaches) {
  object.set(keyval, 1);
  recorder.on_delete = [&](const Call&) {
    EXPECT_EQ(object.value(keyval), 1);
    return 0;
  };
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deletions.size(), 1u);
  EXPECT_EQ(object.value(keyval), Object::kAbsent);
}

TEST_F(SetGetDeleteTest, AFailingDeleteFnLeavesTheAttributeAttached) {
  object.set(keyval, 1);
  recorder.delete_code = -5;
  int code = 0;
  EXPECT_EQ(object.erase(keyval, &code), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(code, -5);
  EXPECT_EQ(object.value(keyval), 1);
  EXPECT_EQ(universe.counters().attributes, 1u);
  recorder.delete_code = 0;
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deletions.size(), 2u);
}

TEST_F(SetGetDeleteTest, DeleteOfNothingSucceeds) {
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  object.set(keyval, 1);
  object.erase(keyval);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deletions.size(), 1u);
}

TEST_F(SetGetDeleteTest, DeleteOfNothingInADeepSlotAllocatesNothing) {
  EXPECT_EQ(object.erase(keyvals(100).back()), ATTRCACHE_OK);
  EXPECT_TRUE(object.all_zero());
}

TEST_F(SetGetDeleteTest, AttributesOfOneObjectDoNotTouchAnothers) {
  Object other(kind);
  object.set(keyval, 1);
  other.set(keyval, 2);
  object.erase(keyval);
  EXPECT_EQ(other.value(keyval), 2);
  EXPECT_EQ(recorder.deletions.at(0).object, &object);
}

TEST_F(SetGetDeleteTest, AnExceptionOfDeleteFnIsAFailure) {
  object.set(keyval, 1);
  recorder.on_delete = [](const Call&) -> int { throw 3; };
  int code = 0;
  EXPECT_EQ(object.erase(keyval, &code), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(code, ATTRCACHE_CALLBACK_THREW);
  EXPECT_EQ(object.value(keyval), 1);
  recorder.on_delete = nullptr;
}

}  // namespace
}  // namespace attrcache::support
