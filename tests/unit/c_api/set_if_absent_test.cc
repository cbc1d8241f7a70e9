// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// What tests/fuzz doesn't compare. misuse_test has the errors.

class SetIfAbsentTest : public ApiTest {
 protected:
  int keyval = recorder.keyval(kind);
};

// What is present is seen as get sees it; and read in another language as it was set.
TEST_F(SetIfAbsentTest, ValuesOfEveryType) {
  for (const attrcache_tag tag :
       {ATTRCACHE_AS_POINTER, ATTRCACHE_AS_INT, ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT}) {
    void *present = this, *got = nullptr;
    intptr_t aint = 0;
    EXPECT_EQ(object.set_if_absent(keyval, -7, &present, tag), ATTRCACHE_OK);
    EXPECT_EQ(present, this);
    EXPECT_EQ(object.set_if_absent(keyval, 8, nullptr, tag), ATTRCACHE_PRESENT);
    EXPECT_EQ(object.set_if_absent(keyval, 8, &present, tag), ATTRCACHE_PRESENT);
    EXPECT_EQ(object.get(keyval, &got), ATTRCACHE_OK);
    EXPECT_EQ(present, got);
    EXPECT_EQ(attrcache_get_aint(kind, &object.table, keyval, &aint), ATTRCACHE_OK);
    EXPECT_EQ(aint, -7);
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  }
}

// A delete_fn that is running deletes for good: even if it fails then, its value is gone.
TEST_F(SetIfAbsentTest, WhatIsBeingDeletedIsAbsent) {
  for (const int code : {0, 5}) {
    recorder.delete_code = 0;
    ASSERT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
    recorder.on_delete = [&](const Call& call) {
      if (call.value != 1) return 0;
      EXPECT_EQ(object.set_if_absent(keyval, 2, nullptr), ATTRCACHE_OK);
      EXPECT_EQ(object.set_if_absent(keyval, 3, nullptr), ATTRCACHE_PRESENT);
      return code;
    };
    EXPECT_EQ(object.erase(keyval), code == 0 ? ATTRCACHE_OK : ATTRCACHE_ERR_CALLBACK);
    EXPECT_EQ(object.value(keyval), 2);
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  }
}

// Whatever touches the slots of a table that isn't aligned would crash.
TEST_F(SetIfAbsentTest, ATableThatIsNotAligned) {
  alignas(16) unsigned char bytes[sizeof(attrcache_table) + 8] = {};
  auto* const table = reinterpret_cast<attrcache_table*>(bytes + 8);
  EXPECT_EQ(attrcache_set(kind, table, nullptr, keyval, bytes, nullptr), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(attrcache_set_as(kind, table, nullptr, keyval, 1, ATTRCACHE_AS_AINT, nullptr),
            ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(attrcache_set_if_absent(kind, table, nullptr, keyval, 1, ATTRCACHE_AS_POINTER, nullptr),
            ATTRCACHE_ERR_ARGUMENT);
  ASSERT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_copy_all(kind, &object.table, &object, table, table, nullptr),
            ATTRCACHE_ERR_ARGUMENT);
}

}  // namespace
}  // namespace attrcache::support
