// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The order of dup and free while attributes age, up to 2^35 attachments to the table: more than a
// test can make.

#include <gtest/gtest.h>

#include <algorithm>

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
                         ::testing::Values(0, 0xfffffffeu, uint64_t{1} << 33,
                                           (uint64_t{1} << 35) - 3));

// After that only the order may be wrong: each attribute is copied and deleted once.
TEST_F(AgeTest, OlderOnesAreStillCopiedAndDeletedOnce) {
  ASSERT_EQ(object.set(second, 1), ATTRCACHE_OK);
  let_pass((uint64_t{1} << 35) + 5);
  ASSERT_EQ(object.set(third, 2), ATTRCACHE_OK);
  Object copy(kind);
  EXPECT_EQ(object.copy_to(copy), ATTRCACHE_OK);
  for (Object* each : {&copy, &object}) {
    recorder.deletions.clear();
    EXPECT_EQ(each->free(), ATTRCACHE_OK);
    std::vector<intptr_t> deleted = recorder.deleted();
    std::sort(deleted.begin(), deleted.end());
    EXPECT_EQ(deleted, (std::vector<intptr_t>{1, 2}));
  }
}

}  // namespace
}  // namespace attrcache::support
