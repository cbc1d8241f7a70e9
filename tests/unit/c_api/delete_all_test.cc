// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// attrcache_delete_each, attrcache_table_is_empty, and what callbacks do within a free.
// tests/fuzz compares attrcache_delete_all.

class DeleteAllTest : public ApiTest {};

// What attrcache_table_is_empty reads is compiled into its users, so it must not change: the first
// two words of a table are zero as long as it is as new.
TEST_F(DeleteAllTest, ATableIsEmptyAsLongAsItIsAsNew) {
  std::vector<int> k = keyvals(100);
  for (const int keyval : {k[0], k[2], k[3], k[99]}) {
    Object one(kind), two(kind);
    EXPECT_TRUE(attrcache_table_is_empty(&one.table));
    one.set(keyval, 1);
    EXPECT_FALSE(attrcache_table_is_empty(&one.table));
    EXPECT_EQ(one.copy_to(two), ATTRCACHE_OK);
    EXPECT_FALSE(attrcache_table_is_empty(&two.table));
    one.erase(keyval);
    EXPECT_FALSE(attrcache_table_is_empty(&one.table)) << "it isn't as new yet";
    EXPECT_EQ(one.free(), ATTRCACHE_OK);
    EXPECT_EQ(two.free(), ATTRCACHE_OK);
    EXPECT_TRUE(attrcache_table_is_empty(&one.table) && attrcache_table_is_empty(&two.table));
    EXPECT_EQ(
        attrcache_set_if_absent(kind, &two.table, &two, keyval, 1, ATTRCACHE_AS_AINT, nullptr),
        ATTRCACHE_OK);
    EXPECT_FALSE(attrcache_table_is_empty(&two.table));
  }
}

// attrcache_delete_each: what each delete_fn returned, in the order of the calls, and that an
// attribute without one is gone.
TEST_F(DeleteAllTest, EachIsToldOf) {
  std::vector<int> k = keyvals(3);
  k.push_back(Recorder::make(kind, {}));
  using Told = std::vector<std::pair<int, int>>;
  const auto delete_each = [&](attrcache_delete_mode mode, Told* told) {
    return attrcache_delete_each(
        kind, &object.table, &object, mode,
        [](void* context, int keyval, int code) {
          static_cast<Told*>(context)->emplace_back(keyval, code);
        },
        told);
  };
  recorder.on_delete = [&](const Call& call) { return call.value == 1 ? 11 : 0; };
  for (int i = 0; i < 4; ++i) object.set(k[i], i);
  Told stopped, drained;
  EXPECT_EQ(delete_each(ATTRCACHE_STOP_AT_FAILURE, &stopped), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(stopped, (Told{{k[3], 0}, {k[2], 0}, {k[1], 11}}));
  EXPECT_EQ(object.value(k[1]), 1);
  EXPECT_EQ(delete_each(ATTRCACHE_DRAIN, &drained), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(drained, (Told{{k[1], 11}, {k[0], 0}}));
  EXPECT_TRUE(object.all_zero());
  EXPECT_EQ(delete_each(ATTRCACHE_DRAIN, &drained), ATTRCACHE_OK);
  EXPECT_EQ(drained.size(), 2u);
}

// Nobody is told of what is held until it is deleted, nor after the object was freed by a callback.
TEST_F(DeleteAllTest, EachIsToldOfOnce) {
  std::vector<int> k = keyvals(2);
  const auto count = [](void* context, int, int) { ++*static_cast<int*>(context); };
  int told = 0;
  object.set(k[0], 1);
  object.set(k[1], 2);
  attrcache_borrowed borrowed = {};
  ASSERT_EQ(attrcache_borrow(kind, &object.table, k[0], &borrowed), ATTRCACHE_OK);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(attrcache_delete_each(kind, &object.table, &object, ATTRCACHE_DRAIN, count, &told),
              ATTRCACHE_ERR_BUSY);
    EXPECT_EQ(told, 1);
  }
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  object.set(k[1], 2);
  recorder.on_delete = [&](const Call& call) {
    return call.value == 2 && object.free() != ATTRCACHE_OK ? 1 : 0;
  };
  EXPECT_EQ(attrcache_delete_each(kind, &object.table, &object, ATTRCACHE_DRAIN, count, &told),
            ATTRCACHE_OK);
  EXPECT_EQ(told, 2);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{2, 2, 1}));
}

// A deletion that a copy_fn has handed off to a borrow on the new object is waited for by nobody,
// but the object can't be freed before.
TEST_F(DeleteAllTest, WhatACopyFnLeavesOnTheNewObjectIsBusy) {
  const std::vector<int> k = keyvals(2);
  Object copy(kind);
  attrcache_borrowed borrowed = {};
  recorder.on_copy = [&](const Call&, void**, int* flag) {
    *flag = 0;
    EXPECT_EQ(copy.set(k[1], 7), ATTRCACHE_OK);
    EXPECT_EQ(attrcache_borrow(kind, &copy.table, k[1], &borrowed), ATTRCACHE_OK);
    return copy.erase(k[1]);
  };
  object.set(k[0], 1);
  EXPECT_EQ(object.copy_to(copy), ATTRCACHE_OK);
  EXPECT_EQ(copy.free(), ATTRCACHE_ERR_BUSY);
  EXPECT_EQ(recorder.deleted(), std::vector<intptr_t>{});
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), std::vector<intptr_t>{7});
  EXPECT_EQ(copy.free(), ATTRCACHE_OK);
}

// A dup that fails to an object that is being freed further up the stack: the free goes on.
TEST_F(DeleteAllTest, AFailingDupWithinItIsNotItsEnd) {
  const std::vector<int> k = keyvals(3);
  Object other(kind);
  other.set(k[2], 3);
  recorder.copy_code = 5;
  recorder.on_delete = [&](const Call& call) {
    if (call.value != 1) return 0;
    EXPECT_EQ(other.copy_to(object), ATTRCACHE_ERR_CALLBACK);
    return object.set(k[1], 2);
  };
  object.set(k[0], 1);
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1, 2}));
  EXPECT_TRUE(object.all_zero());
}

// What a copy_fn has borrowed on the new object is handed off to that borrow when the dup fails.
TEST_F(DeleteAllTest, AFailingDupLeavesNothingThoughCopiesAreHeld) {
  const std::vector<int> k = keyvals(4);
  Object copy(kind);
  attrcache_borrowed first = {}, second = {};
  recorder.on_copy = [&](const Call& call, void** out, int* flag) {
    if (call.value == 4) return 5;
    if (call.value == 3) {
      EXPECT_EQ(attrcache_borrow(kind, &copy.table, k[0], &first), ATTRCACHE_OK);
      EXPECT_EQ(copy.erase(k[0]), ATTRCACHE_OK);
      EXPECT_EQ(attrcache_borrow(kind, &copy.table, k[1], &second), ATTRCACHE_OK);
    }
    return copy_as(call.value, out, flag);
  };
  for (int i = 0; i < 4; ++i) object.set(k[i], i + 1);
  EXPECT_EQ(object.copy_to(copy), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(recorder.deleted(), std::vector<intptr_t>{3});
  EXPECT_TRUE(copy.list().empty());
  EXPECT_EQ(attrcache_give_back(&second), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_give_back(&first), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{3, 2, 1}));
  EXPECT_EQ(copy.free(), ATTRCACHE_OK);
}

// A final drain gives up a deletion that was left; its keyval ends, whose destructor sets something.
TEST_F(DeleteAllTest, AFinalDrainDeletesWhatADestructorSets) {
  const std::vector<int> k = keyvals(2);
  attrcache_borrowed borrowed = {};
  object.set(k[0], 1);
  ASSERT_EQ(attrcache_borrow(kind, &object.table, k[0], &borrowed), ATTRCACHE_OK);
  EXPECT_EQ(object.erase(k[0]), ATTRCACHE_OK);
  EXPECT_EQ(free_keyval(kind, k[0]), ATTRCACHE_OK);
  recorder.on_destroy = [&] {
    recorder.on_destroy = nullptr;
    EXPECT_EQ(object.set(k[1], 2), ATTRCACHE_OK);
  };
  EXPECT_EQ(object.free(ATTRCACHE_DRAIN_FINALLY), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), std::vector<intptr_t>{2});
  EXPECT_TRUE(object.all_zero());
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
}

}  // namespace
}  // namespace attrcache::support
