// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// attrcache_delete_all (free), on one thread.

class DeleteAllTest : public ApiTest {};

TEST_F(DeleteAllTest, RunsDeleteFnInTheReverseOrderOfSetting) {
  std::vector<int> k = keyvals(5);
  for (const int i : {3, 0, 4, 1, 2}) object.set(k[i], i);
  object.set(k[3], 13);
  recorder.deletions.clear();
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{13, 2, 1, 4, 0}));
  for (const Call& call : recorder.deletions) EXPECT_EQ(call.object, &object);
}

// A freed keyval's destructor runs as soon as its last attribute is deleted. At that moment, what
// was set before that attribute is still attached.
TEST_F(DeleteAllTest, DestructorsFindWhatIsOlder) {
  const int older = make_keyval(kind, nullptr, nullptr);
  const int ending =
      make_keyval(kind, nullptr, nullptr, &recorder, ATTRCACHE_C, recorder.callbacks().destructor);
  intptr_t seen = 0;
  recorder.on_destroy = [&] { seen = object.value(older); };
  object.set(older, 5);
  object.set(ending, 6);
  EXPECT_EQ(free_keyval(kind, ending), ATTRCACHE_OK);
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  EXPECT_EQ(seen, 5);
}

TEST_F(DeleteAllTest, AReplacedAttributeTakesItsNewPlaceBeforeItsDeleteFnSetsOthers) {
  std::vector<int> k = keyvals(2);
  object.set(k[0], 1);
  recorder.on_delete = [&](const Call& call) {
    if (call.value == 1) object.set(k[1], 2);
    return 0;
  };
  object.set(k[0], 3);  // comes before what the callback sets
  recorder.deletions.clear();
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{2, 3}));
}

TEST_F(DeleteAllTest, TheTableIsAsNew) {
  std::vector<int> k = keyvals(100);
  for (const int keyval : k) object.set(keyval, keyval);
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  EXPECT_TRUE(object.all_zero());
  EXPECT_EQ(object.set(k[99], 1), ATTRCACHE_OK);
  EXPECT_EQ(object.value(k[99]), 1);
  EXPECT_EQ(object.value(k[0]), Object::kAbsent);
}

TEST_F(DeleteAllTest, StopModeStopsAtTheFirstFailureAndASecondCallGoesOnFromThere) {
  std::vector<int> k = keyvals(5);
  for (int i = 0; i < 5; ++i) object.set(k[i], i);
  recorder.on_delete = [&](const Call& call) { return call.value == 2 ? 9 : 0; };
  int code = 0;
  EXPECT_EQ(object.free(ATTRCACHE_STOP_AT_FAILURE, &code), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(code, 9);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{4, 3, 2}));
  EXPECT_EQ(object.value(k[2]), 2) << "that attribute stays";
  EXPECT_EQ(object.value(k[1]), 1) << "and the not yet deleted ones";
  EXPECT_EQ(object.value(k[3]), Object::kAbsent);

  recorder.deletions.clear();
  recorder.on_delete = nullptr;
  EXPECT_EQ(object.free(ATTRCACHE_STOP_AT_FAILURE, &code), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{2, 1, 0})) << "calling nothing twice";
}

TEST_F(DeleteAllTest, DrainAttemptsAllDetachesAllAndReturnsTheFirstFailure) {
  std::vector<int> k = keyvals(5);
  recorder.on_delete = [&](const Call& call) {
    return call.value == 3 ? 33 : call.value == 1 ? 11 : 0;
  };
  for (const attrcache_delete_mode mode : {ATTRCACHE_DRAIN, ATTRCACHE_DRAIN_FINALLY}) {
    for (int i = 0; i < 5; ++i) object.set(k[i], i);
    recorder.deletions.clear();
    int code = 0;
    EXPECT_EQ(object.free(mode, &code), ATTRCACHE_ERR_CALLBACK);
    EXPECT_EQ(code, 33);
    EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{4, 3, 2, 1, 0}));
    EXPECT_TRUE(object.all_zero());
    EXPECT_EQ(universe.counters().attributes, 0u);
  }
}

TEST_F(DeleteAllTest, WhatIsHeldStays) {
  std::vector<int> k = keyvals(2);
  object.set(k[0], 1);
  object.set(k[1], 2);
  attrcache_borrowed borrowed = {};
  ASSERT_EQ(attrcache_borrow(kind, &object.table, k[0], &borrowed), ATTRCACHE_OK);
  for (const attrcache_delete_mode mode : {ATTRCACHE_STOP_AT_FAILURE, ATTRCACHE_DRAIN}) {
    EXPECT_EQ(object.free(mode), ATTRCACHE_ERR_BUSY);
    EXPECT_EQ(object.value(k[0]), 1);
  }
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{2}));
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
}

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

// Whether the failure comes before what is held, or after it.
TEST_F(DeleteAllTest, DrainReportsAFailureBesideBusy) {
  std::vector<int> k = keyvals(2);
  for (const auto& [mode, held] :
       {std::pair(ATTRCACHE_DRAIN, 0), std::pair(ATTRCACHE_DRAIN_FINALLY, 1)}) {
    object.set(k[0], 1);
    object.set(k[1], 2);
    attrcache_borrowed borrowed = {};
    ASSERT_EQ(attrcache_borrow(kind, &object.table, k[held], &borrowed), ATTRCACHE_OK);
    recorder.delete_code = 5;
    int code = 0;
    EXPECT_EQ(attrcache_delete_all(kind, &object.table, &object, mode, &code), ATTRCACHE_ERR_BUSY);
    EXPECT_EQ(code, 5);
    EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
    recorder.delete_code = 0;
    EXPECT_EQ(object.free(), ATTRCACHE_OK);
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

}  // namespace
}  // namespace attrcache::support
