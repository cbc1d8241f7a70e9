// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// Keyvals, set, get and delete, on one thread: what tests/fuzz, which has no exceptions and no endless
// recursion, doesn't compare with its reference.

class SetGetDeleteTest : public ApiTest {
 protected:
  int keyval = recorder.keyval(kind);
};

TEST_F(SetGetDeleteTest, TheCallbackCodeMayBeNull) {
  object.set(keyval, 1);
  recorder.delete_code = 77;
  EXPECT_EQ(object.set(keyval, 2), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_ERR_CALLBACK);
  recorder.delete_code = 0;
}

TEST_F(SetGetDeleteTest, DeleteOfNothingInADeepSlotAllocatesNothing) {
  EXPECT_EQ(object.erase(keyvals(100).back()), ATTRCACHE_OK);
  EXPECT_TRUE(object.all_zero());
}

TEST_F(SetGetDeleteTest, AnExceptionOfACallbackIsAFailure) {
  object.set(keyval, 1);
  recorder.on_delete = [](const Call&) -> int { throw 3; };
  recorder.on_copy = [](const Call&, void**, int*) -> int { throw "up"; };
  for (const bool copies : {false, true}) {
    Object to(kind);
    int code = 0;
    EXPECT_EQ(copies ? object.copy_to(to, &code) : object.erase(keyval, &code),
              ATTRCACHE_ERR_CALLBACK);
    EXPECT_EQ(code, ATTRCACHE_CALLBACK_THREW);
    EXPECT_EQ(object.value(keyval), 1);
    EXPECT_TRUE(to.all_zero());
  }
  recorder.on_delete = nullptr;
}

// More often than a slot can count.
TEST_F(SetGetDeleteTest, SetsThatFailLeaveTheOldValueAndItsOrder) {
  const int other = recorder.keyval(kind);
  object.set(keyval, 1);
  object.set(other, 2);
  recorder.delete_code = 8;
  for (int i = 0; i < 255; ++i) EXPECT_EQ(object.set(keyval, 3), ATTRCACHE_ERR_CALLBACK);
  recorder.delete_code = 0;
  EXPECT_EQ(object.list()[0].value, 1) << "the older one, as before";
  recorder.delete_code = 8;
  for (int i = 0; i < 300; ++i) EXPECT_EQ(object.set(keyval, 3), ATTRCACHE_ERR_CALLBACK);
  recorder.delete_code = 0;
  EXPECT_EQ(object.value(keyval), 1);
  EXPECT_EQ(universe.counters().attributes, 2u);
}

TEST_F(SetGetDeleteTest, SetsThatNestForEverAreRefused) {
  object.set(keyval, 1);
  int refused = 0;
  intptr_t last = 2;
  recorder.on_delete = [&](const Call&) {
    const int result = object.set(keyval, ++last);
    if (result == ATTRCACHE_ERR_REATTACHED) ++refused;
    return 0;
  };
  EXPECT_EQ(object.set(keyval, 2), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deletions.size(), 16u);
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(object.value(keyval), 17);
  EXPECT_EQ(universe.counters().attributes, 1u);
  recorder.on_delete = nullptr;
}

TEST_F(SetGetDeleteTest, TheDestructorMayFreeTheVariableThatHeldTheKeyval) {
  // As when the keyval is a member of what extra_state points to.
  auto* variable = new int(recorder.keyval(kind));
  recorder.on_destroy = [variable] { delete variable; };
  EXPECT_EQ(attrcache_keyval_free(kind, variable), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 1);
  recorder.on_destroy = nullptr;
}

}  // namespace
}  // namespace attrcache::support
