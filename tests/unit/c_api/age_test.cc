// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The order of dup and free at any time of a table's clock, also after more attachments than a test
// can make.

#include <gtest/gtest.h>

#include "table/table.h"
#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

class AgeTest : public ApiTest, public ::testing::WithParamInterface<uint64_t> {
 protected:
  // As if this many more attributes had been set and deleted.
  void let_pass(uint64_t attachments) {
    Table::of(&object.table).clock.fetch_add(attachments, kRelaxed);
  }
  // As if so many had been set that the next one renumbers the attributes.
  void come_to_a_renumbering() { Table::of(&object.table).clock.fetch_or(0xffffffff, kRelaxed); }

  int first = recorder.keyval(kind);
  int second = recorder.keyval(kind);
  int third = recorder.keyval(kind);
};

TEST_P(AgeTest, OldAttributesAreCopiedAndDeletedInTheOrderOfSetting) {
  ASSERT_EQ(object.set(second, 1), ATTRCACHE_OK);
  let_pass(GetParam());
  ASSERT_EQ(object.set(third, 2), ATTRCACHE_OK);
  ASSERT_EQ(object.set(first, 3), ATTRCACHE_OK);
  Object copy(kind);
  EXPECT_EQ(object.copy_to(copy), ATTRCACHE_OK);
  EXPECT_EQ(recorder.copied(), (std::vector<intptr_t>{1, 2, 3}));
  for (Object* each : {&copy, &object}) {
    recorder.deletions.clear();
    EXPECT_EQ(each->free(), ATTRCACHE_OK);
    EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{3, 2, 1}));
    EXPECT_TRUE(each->all_zero());
  }
}

INSTANTIATE_TEST_SUITE_P(Attachments, AgeTest,
                         ::testing::Values(0, 0xfffffffeu, uint64_t{1} << 33, uint64_t{1} << 35,
                                           (uint64_t{1} << 36) - 3, uint64_t{1} << 36,
                                           uint64_t{1} << 37, (uint64_t{1} << 37) + 5));

// The clock wraps around again and again, and one attribute stays from the beginning.
TEST_F(AgeTest, TheFirstStaysTheFirstForEver) {
  ASSERT_EQ(object.set(second, 1), ATTRCACHE_OK);
  for (int turn = 0; turn < 40; ++turn) {
    let_pass((uint64_t{1} << 32) - 2);
    // Past a multiple of 2^32, the old attribute's number looks younger.
    for (intptr_t value = 2; value < 5; ++value) {
      ASSERT_EQ(object.set(value % 2 == 0 ? first : third, value), ATTRCACHE_OK);
    }
  }
  recorder.deletions.clear();
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{4, 3, 1}));
}

// With more attributes than a list on the stack holds, set in an order of their own.
TEST_F(AgeTest, ManyOldOnesKeepTheirOrder) {
  constexpr int kMany = 200;
  const std::vector<int> keyvals = ApiTest::keyvals(kMany);
  for (int k = 0; k < kMany; ++k) {
    ASSERT_EQ(object.set(keyvals[k * 77 % kMany], k), ATTRCACHE_OK);
    if (k % 50 == 0) come_to_a_renumbering();
  }
  for (int turn = 0; turn < 20; ++turn) {
    come_to_a_renumbering();
    ASSERT_EQ(object.set(first, 1000), ATTRCACHE_OK);
  }
  recorder.deletions.clear();
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  ASSERT_EQ(recorder.deletions.size(), size_t{kMany} + 1);
  for (int k = 0; k < kMany; ++k) EXPECT_EQ(recorder.deletions[kMany - k].value, k);
}

// Setting in one step, under a keyval without delete_fn, renumbers as well.
TEST_F(AgeTest, SetsWithoutDeleteFnRenumberToo) {
  const int no_delete_fn = Recorder::make(kind, {});
  const int other = Recorder::make(kind, {});
  ASSERT_EQ(object.set(second, 1), ATTRCACHE_OK);
  for (int turn = 0; turn < 40; ++turn) {
    let_pass((uint64_t{1} << 32) - 2);
    for (int i = 0; i < 6; ++i)
      ASSERT_EQ(object.set(i % 2 == 0 ? no_delete_fn : other, i), ATTRCACHE_OK);
  }
  const std::vector<attrcache_attribute_info> listed = object.list();
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(listed[0].keyval, second);
  EXPECT_EQ(listed[1].keyval, no_delete_fn);
  EXPECT_EQ(listed[2].keyval, other);
}

}  // namespace
}  // namespace attrcache::support
