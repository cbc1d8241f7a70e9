// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Moves of tables, permitted and not.

#include <thread>

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

class TableMoveTest : public ApiTest {
 protected:
  int move(Object& from, Object& to) { return attrcache_table_move(kind, &from.table, &to.table); }

  Object from{kind}, to{kind};
};

TEST_F(TableMoveTest, TakesAllAttributesAlongInTheirOrder) {
  const std::vector<int> keyvals = ApiTest::keyvals(200);
  for (int k = 200; k-- > 0;) ASSERT_EQ(from.set(keyvals[k], k), ATTRCACHE_OK);
  EXPECT_EQ(move(from, to), ATTRCACHE_OK);
  EXPECT_TRUE(from.all_zero());
  for (int k = 0; k < 200; ++k) EXPECT_EQ(to.value(keyvals[k]), k);
  EXPECT_EQ(from.set(keyvals[0], 7), ATTRCACHE_OK) << "it can be used again";
  EXPECT_EQ(from.free(), ATTRCACHE_OK);
  recorder.deletions.clear();
  EXPECT_EQ(to.free(), ATTRCACHE_OK);
  for (int k = 0; k < 200; ++k) EXPECT_EQ(recorder.deletions[k].value, k);
}

TEST_F(TableMoveTest, RefusesWhatCannotBe) {
  const int keyval = recorder.keyval(kind);
  EXPECT_EQ(attrcache_table_move(nullptr, &from.table, &to.table), ATTRCACHE_ERR_NULL);
  EXPECT_EQ(attrcache_table_move(kind, nullptr, &to.table), ATTRCACHE_ERR_NULL);
  EXPECT_EQ(attrcache_table_move(kind, &from.table, nullptr), ATTRCACHE_ERR_NULL);
  EXPECT_EQ(move(from, from), ATTRCACHE_ERR_ARGUMENT);
  ASSERT_EQ(to.set(keyval, 1), ATTRCACHE_OK);
  EXPECT_EQ(move(from, to), ATTRCACHE_ERR_ARGUMENT) << "it would lose what is there";

  attrcache_borrowed borrowed = {};
  Object third(kind);
  ASSERT_EQ(attrcache_borrow(kind, &to.table, keyval, &borrowed), ATTRCACHE_OK);
  EXPECT_EQ(move(to, third), ATTRCACHE_ERR_BUSY);
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);

  recorder.on_delete = [&](const Call&) {
    EXPECT_EQ(move(to, third), ATTRCACHE_ERR_BUSY);
    return 0;
  };
  EXPECT_EQ(to.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(move(to, third), ATTRCACHE_OK);
}

// A table that was emptied may still have memory, so its bytes must not be copied. If they are, dup
// and free of the copy report that, instead of releasing the memory twice.
TEST_F(TableMoveTest, CopiedBytesAreNoticed) {
  for (int k = 0; k < 10; ++k) {
    const int keyval = recorder.keyval(kind);
    ASSERT_EQ(from.set(keyval, k), ATTRCACHE_OK);
    ASSERT_EQ(from.erase(keyval), ATTRCACHE_OK);
  }
  attrcache_table copied = from.table;
  for (const attrcache_delete_mode mode : {ATTRCACHE_STOP_AT_FAILURE, ATTRCACHE_DRAIN}) {
    EXPECT_EQ(attrcache_delete_all(kind, &copied, nullptr, mode, nullptr), ATTRCACHE_ERR_MOVED);
  }
  EXPECT_EQ(attrcache_copy_all(kind, &copied, nullptr, &to.table, nullptr, nullptr),
            ATTRCACHE_ERR_MOVED);
  EXPECT_EQ(attrcache_table_move(kind, &copied, &to.table), ATTRCACHE_ERR_MOVED);
  EXPECT_EQ(move(from, to), ATTRCACHE_OK);
}

}  // namespace
}  // namespace attrcache::support
