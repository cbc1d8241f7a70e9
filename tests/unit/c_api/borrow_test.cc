// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"
#include "tests/support/threads.h"

namespace attrcache::support {
namespace {

// attrcache_borrow and attrcache_give_back. tests/fuzz compares one borrow at a time.

class BorrowTest : public ApiTest {
 protected:
  int borrow(attrcache_borrowed* borrowed) {
    return attrcache_borrow(kind, &object.table, keyval, borrowed);
  }

  int keyval = recorder.keyval(kind);
  attrcache_borrowed borrowed = {};
};

TEST_F(BorrowTest, OfAnIntGivesTheAddressOfACopyWhichStays) {
  object.set_as(keyval, -5, ATTRCACHE_AS_INT);
  ASSERT_EQ(borrow(&borrowed), ATTRCACHE_OK);
  EXPECT_EQ(*static_cast<int*>(borrowed.value), -5);
  object.set_as(keyval, -6, ATTRCACHE_AS_INT);
  EXPECT_EQ(*static_cast<int*>(borrowed.value), -5);
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
}

// Such a borrow may outlive its object, whose memory is used again.
TEST_F(BorrowTest, ValuesWithoutDeleteFnMakeNoOthersLookHeld) {
  const int no_callbacks = Recorder::make(kind, {});
  alignas(64) char bytes[128] = {};
  auto* const before = reinterpret_cast<attrcache_table*>(bytes);
  auto* const after = reinterpret_cast<attrcache_table*>(bytes + 16);
  attrcache_set_as(kind, before, nullptr, no_callbacks, 1, ATTRCACHE_AS_POINTER, nullptr);
  ASSERT_EQ(attrcache_borrow(kind, before, no_callbacks, &borrowed), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_delete_all(kind, before, nullptr, ATTRCACHE_DRAIN, nullptr), ATTRCACHE_OK);
  attrcache_set_as(kind, after, nullptr, keyval, 2, ATTRCACHE_AS_POINTER, nullptr);
  attrcache_borrowed other = {};
  ASSERT_EQ(attrcache_borrow(kind, after, keyval, &other), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_give_back(&other), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_delete_all(kind, after, nullptr, ATTRCACHE_DRAIN, nullptr), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{2}));
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
}

TEST_F(BorrowTest, WhatIsRefusedChangesNothing) {
  const int other = recorder.keyval(kind);
  object.set(keyval, 5);
  object.set(other, 6);
  ASSERT_EQ(borrow(&borrowed), ATTRCACHE_OK);
  std::thread([&] { EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_ERR_THREAD); }).join();
  EXPECT_EQ(attrcache_borrow(kind, &object.table, other, &borrowed), ATTRCACHE_ERR_ARGUMENT)
      << "the struct still holds a value";
  EXPECT_EQ(borrowed.value, reinterpret_cast<void*>(5));
  EXPECT_EQ(object.list()[0].holders, 1u);
  attrcache_borrowed copy = borrowed;
  for (const int returned : {ATTRCACHE_OK, ATTRCACHE_ERR_ARGUMENT}) {
    EXPECT_EQ(attrcache_give_back(&copy), ATTRCACHE_ERR_ARGUMENT);
    EXPECT_EQ(attrcache_give_back(&borrowed), returned);
  }
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
}

TEST_F(BorrowTest, NestedBorrowsEndInAnyOrder) {
  const int other = recorder.keyval(kind);
  const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    object.set(keyval, 5);
    object.set(other, 6);
    attrcache_borrowed b[3] = {};
    ASSERT_EQ(borrow(&b[0]), ATTRCACHE_OK);
    ASSERT_EQ(attrcache_borrow(kind, &object.table, other, &b[1]), ATTRCACHE_OK);
    ASSERT_EQ(borrow(&b[2]), ATTRCACHE_OK);
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
    bool held[] = {true, true, true};
    for (const int i : order) {
      EXPECT_EQ(attrcache_give_back(&b[i]), ATTRCACHE_OK);
      held[i] = false;
      EXPECT_EQ(recorder.deletions.size(), held[0] || held[2] ? 0u : 1u);
    }
    EXPECT_EQ(object.erase(other), ATTRCACHE_OK);
    recorder.deletions.clear();
  }
}

TEST_F(BorrowTest, AnyNumberOfBorrowsMayHoldAValue) {
  object.set(keyval, 5);
  std::vector<attrcache_borrowed> all(5000);
  for (attrcache_borrowed& one : all) ASSERT_EQ(borrow(&one), ATTRCACHE_OK);
  EXPECT_EQ(object.list()[0].holders, 5000u);
  Object to(kind);
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
  for (attrcache_borrowed& one : all) ASSERT_EQ(attrcache_give_back(&one), ATTRCACHE_OK);
  EXPECT_EQ(object.list()[0].holders, 0u);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
}

// The delete gives up the copy's own hold, but not the borrow.
TEST_F(BorrowTest, ACopyFnMayBorrowWhatItCopiesAndDeletes) {
  Object to(kind);
  object.set(keyval, 5);
  recorder.on_copy = [&](const Call& call, void** out, int* flag) {
    EXPECT_EQ(borrow(&borrowed), ATTRCACHE_OK);
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
    EXPECT_TRUE(recorder.deletions.empty());
    EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
    EXPECT_EQ(recorder.deletions.size(), 1u);
    return copy_as(call.value, out, flag);
  };
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
  EXPECT_EQ(to.value(keyval), 5);
}

// Under many indices, since a slot's meta has flags where a keyval has its index.
TEST_F(BorrowTest, WithinASetIsOfTheNewValueUnderEveryKeyval) {
  const auto borrow_now = [&](int of, intptr_t value) {
    ASSERT_EQ(attrcache_borrow(kind, &object.table, of, &borrowed), ATTRCACHE_OK) << std::hex << of;
    EXPECT_EQ(borrowed.value, reinterpret_cast<void*>(value));
    EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  };
  recorder.on_delete = [&](const Call& call) {
    borrow_now(call.keyval, 6);
    return 0;
  };
  for (int of = 0; of < 200; ++of) {
    object.set(keyval, 5);
    for (int times = 0; times < 2; ++times) borrow_now(keyval, 5);  // the first clears kUnheld
    EXPECT_EQ(object.set(keyval, 6), ATTRCACHE_OK);
    borrow_now(keyval, 6);
    keyval = recorder.keyval(kind);
  }
  EXPECT_EQ(recorder.deletions.size(), 200u);
  recorder.on_delete = nullptr;
}

// No other thread is blocked meanwhile.
TEST(BorrowAtTheEndTest, OfAThreadThatHasEndedLeavesTheDeletionToTheEndOfTheDomain) {
  Recorder recorder;
  Universe universe;
  attrcache_kind* const kind = universe.kind();
  const int keyval = recorder.keyval(kind);
  attrcache_table table = ATTRCACHE_TABLE_INIT;
  const auto set = [&](intptr_t value) {
    return attrcache_set_as(kind, &table, nullptr, keyval, value, ATTRCACHE_AS_POINTER, nullptr);
  };
  EXPECT_EQ(set(1), ATTRCACHE_OK);
  std::thread([&] {
    attrcache_borrowed held = {};
    EXPECT_EQ(attrcache_borrow(kind, &table, keyval, &held), ATTRCACHE_OK);
  }).join();
  EXPECT_EQ(set(2), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_delete(kind, &table, nullptr, keyval, nullptr), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), std::vector<intptr_t>{2});
  EXPECT_EQ(attrcache_domain_destroy(universe.release(), ATTRCACHE_DESTROY_ANYWAY, nullptr),
            ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{2, 1}));
}

}  // namespace
}  // namespace attrcache::support
