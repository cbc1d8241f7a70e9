// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// Predefined attributes: keyvals and values that the runtime sets and users only read.

class PredefinedTest : public ::testing::TestWithParam<attrcache_tag> {
 protected:
  int put(intptr_t value) { return attrcache_set_predefined(kind, &object.table, keyval, value); }

  Universe universe;
  attrcache_kind* kind = universe.kind();
  int keyval = [this] {
    int made = 0;
    EXPECT_EQ(attrcache_keyval_create_predefined(kind, GetParam(), &made), ATTRCACHE_OK);
    return made;
  }();
  Object object{kind};
};

TEST_P(PredefinedTest, TheRuntimeSetsAndChangesIt) {
  EXPECT_EQ(object.value(keyval), Object::kAbsent);
  std::vector<intptr_t> values = {32767, -2, 0};
  if (GetParam() != ATTRCACHE_AS_INT)
    values.push_back(static_cast<intptr_t>(int64_t{5} << 32));  // a window's size
  for (const intptr_t value : values) {
    EXPECT_EQ(put(value), ATTRCACHE_OK);
    void* c = nullptr;
    int fint = 1;
    intptr_t aint = 1;
    EXPECT_EQ(object.get(keyval, &c), ATTRCACHE_OK);
    EXPECT_EQ(attrcache_get_fint(kind, &object.table, keyval, &fint), ATTRCACHE_OK);
    EXPECT_EQ(attrcache_get_aint(kind, &object.table, keyval, &aint), ATTRCACHE_OK);
    EXPECT_EQ(fint, static_cast<int>(value));
    EXPECT_EQ(aint, value);
    if (GetParam() == ATTRCACHE_AS_INT) {
      EXPECT_EQ(*static_cast<int*>(c), value);
    } else if (GetParam() == ATTRCACHE_AS_AINT) {
      EXPECT_EQ(*static_cast<intptr_t*>(c), value);
    } else {
      EXPECT_EQ(reinterpret_cast<intptr_t>(c), value);
    }
  }
}

TEST_P(PredefinedTest, UserCodeCanNeitherSetDeleteNorFreeIt) {
  for (int round = 0; round < 2; ++round) {
    int variable = keyval;
    EXPECT_EQ(object.set(keyval, 9), ATTRCACHE_ERR_KEYVAL_PREDEFINED);
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_ERR_KEYVAL_PREDEFINED);
    EXPECT_EQ(attrcache_keyval_free(kind, &variable), ATTRCACHE_ERR_KEYVAL_PREDEFINED);
    EXPECT_EQ(variable, keyval);
    intptr_t aint = 0;
    EXPECT_EQ(attrcache_get_aint(kind, &object.table, keyval, &aint),
              round == 0 ? ATTRCACHE_ABSENT : ATTRCACHE_OK);
    EXPECT_EQ(aint, round == 0 ? 0 : 5);
    EXPECT_EQ(put(5), ATTRCACHE_OK);
  }
}

TEST_P(PredefinedTest, ItIsNotCopied) {
  put(5);
  Object to(kind);
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
  EXPECT_TRUE(to.all_zero());
}

TEST_P(PredefinedTest, ItGoesWithItsObject) {
  put(5);
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  EXPECT_TRUE(object.all_zero());
  EXPECT_EQ(universe.counters().attributes, 0u);
  EXPECT_EQ(put(6), ATTRCACHE_OK);
}

TEST_P(PredefinedTest, ABorrowKeepsItFromBeingChanged) {
  put(5);
  attrcache_borrowed borrowed;
  ASSERT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed), ATTRCACHE_OK);
  EXPECT_EQ(put(6), ATTRCACHE_ERR_BORROWED);
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  EXPECT_EQ(put(6), ATTRCACHE_OK);
}

TEST_P(PredefinedTest, IsIntrospectedAsSuch) {
  put(5);
  attrcache_keyval_info info = {};
  EXPECT_EQ(attrcache_keyval_describe(kind, keyval, &info), ATTRCACHE_OK);
  EXPECT_TRUE(info.predefined);
  EXPECT_FALSE(info.freed);
  EXPECT_EQ(info.attributes, 1u);
  EXPECT_EQ(object.list().at(0).tag, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Tags, PredefinedTest,
                         ::testing::Values(ATTRCACHE_AS_INT, ATTRCACHE_AS_POINTER,
                                           ATTRCACHE_AS_AINT));

}  // namespace
}  // namespace attrcache::support
