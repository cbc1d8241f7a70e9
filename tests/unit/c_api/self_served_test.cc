// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// Callbacks that change the very attribute, object or keyval that they are called for.

class SelfServedTest : public ApiTest {
 protected:
  int keyval = recorder.keyval(kind);
};

// The set has taken effect when delete_fn runs, so a delete within it deletes the new value.
TEST_F(SelfServedTest, DeleteInsideSetDeletesTheNewValue) {
  for (const int code : {0, 8}) {
    object.set(keyval, 1);
    recorder.deletions.clear();
    recorder.on_delete = [&](const Call& call) {
      if (call.value != 1) return 0;
      EXPECT_EQ(object.value(keyval), 2);
      EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
      return code;
    };
    int told = 0;
    EXPECT_EQ(object.set(keyval, 2, &told), ATTRCACHE_OK);
    EXPECT_EQ(told, code);
    EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1, 2}));
    EXPECT_EQ(object.value(keyval), Object::kAbsent);
    EXPECT_EQ(universe.counters().attributes, 0u);
  }
}

// A value that another call has taken up can't be taken back.
TEST_F(SelfServedTest, AFailingSetWhoseValueIsTakenUpSucceeds) {
  enum class By { kBorrow, kGet, kFailedDelete };
  for (const By by : {By::kBorrow, By::kGet, By::kFailedDelete}) {
    object.set(keyval, 1);
    recorder.on_delete = [&](const Call& call) {
      attrcache_borrowed borrowed = {};
      if (call.value == 1 && by == By::kBorrow) {
        EXPECT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed), ATTRCACHE_OK);
        EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
      } else if (call.value == 1 && by == By::kFailedDelete) {
        EXPECT_EQ(object.erase(keyval), ATTRCACHE_ERR_CALLBACK);
      } else {
        EXPECT_EQ(object.value(keyval), 2);
      }
      return 8;
    };
    int told = 0;
    const int result = object.set(keyval, 2, &told);
    EXPECT_EQ(told, 8);
    EXPECT_EQ(result, by == By::kGet ? ATTRCACHE_ERR_CALLBACK : ATTRCACHE_OK);
    EXPECT_EQ(object.value(keyval), by == By::kGet ? 1 : 2);
    recorder.on_delete = nullptr;
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
    EXPECT_EQ(universe.counters().attributes, 0u);
  }
}

// More often than a slot can count.
TEST_F(SelfServedTest, SetsThatFailLeaveTheOldValueAndItsOrder) {
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

TEST_F(SelfServedTest, SetsThatNestForEverAreRefused) {
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

// ---- A callback that frees the object, which a call up the stack uses, and its memory ----------

class DyingObjectTest : public ApiTest {
 protected:
  void TearDown() override { EXPECT_EQ(universe.counters().attributes, 0u); }

  int k1 = recorder.keyval(kind);
  int k2 = [this] {
    for (int i = 0; i < 70; ++i) recorder.keyval(kind);
    return recorder.keyval(kind);  // in a segment
  }();
  Object* object = new Object(kind);
};

TEST_F(DyingObjectTest, DeleteFnFreesItDuringDeleteOrDeleteAll) {
  for (const char call : {'1', '2', 's', 'd', 'n'}) {  // n: nested, at the second depth
    for (const int answer : {0, 5}) {
      auto* dying = new Object(kind);
      dying->set(k1, 1);
      dying->set(k2, 2);
      bool done = false;
      int depth = 0;
      recorder.on_delete = [&](const Call&) {
        if (call == 'n' && depth++ == 0) return static_cast<void>(dying->erase(k2)), answer;
        if (done) return 0;
        done = true;
        EXPECT_EQ(dying->free(), ATTRCACHE_OK);
        EXPECT_TRUE(dying->all_zero());
        delete dying;
        return answer;
      };
      recorder.deletions.clear();
      int code = 0;
      const bool first = call == '1' || call == 'n';
      const int result = first         ? dying->erase(k1, &code)
                         : call == '2' ? dying->erase(k2, &code)
                         : call == 's' ? dying->free(ATTRCACHE_STOP_AT_FAILURE, &code)
                                       : dying->free(ATTRCACHE_DRAIN, &code);
      EXPECT_EQ(result, answer == 0 ? ATTRCACHE_OK : ATTRCACHE_ERR_CALLBACK);
      EXPECT_EQ(code, answer);
      EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{first ? 1 : 2, first ? 2 : 1}));
    }
  }
  delete object;
}

TEST_F(DyingObjectTest, DeleteFnFreesItDuringSet) {
  object->set(k2, 2);
  recorder.on_delete = [&](const Call& call) {
    if (call.value == 2) delete object;
    return call.value == 2 ? 5 : 0;
  };
  int code = 0;
  EXPECT_EQ(attrcache_set_as(kind, &object->table, object, k2, 3, ATTRCACHE_AS_POINTER, &code),
            ATTRCACHE_OK)
      << "3 was attached, and deleted with the object";
  EXPECT_EQ(code, 5);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{2, 3}));
}

TEST_F(DyingObjectTest, CopyFnFreesTheObjectAfterDeletingWhatItCopies) {
  Object to(kind);
  object->set(k2, 2);
  recorder.on_copy = [&](const Call&, void** out, int* flag) {
    EXPECT_EQ(object->erase(k2), ATTRCACHE_OK);
    delete object;
    return copy_as(0, out, flag);
  };
  EXPECT_EQ(object->copy_to(to), ATTRCACHE_ERR_FREED);
  EXPECT_TRUE(to.list().empty());
}

}  // namespace
}  // namespace attrcache::support
