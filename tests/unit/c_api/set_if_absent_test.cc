// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

class SetIfAbsentTest : public ApiTest {
 protected:
  int attach(Object& to, int keyval, intptr_t value, void** present,
             attrcache_tag tag = ATTRCACHE_AS_POINTER) {
    return attrcache_set_if_absent(kind, &to.table, &to, keyval, value, tag, present);
  }

  int keyval = recorder.keyval(kind);
};

TEST_F(SetIfAbsentTest, AttachesOnce) {
  static char untouched;
  void* present = &untouched;
  EXPECT_EQ(attach(object, keyval, 1, &present), ATTRCACHE_OK);
  EXPECT_EQ(present, &untouched);
  EXPECT_EQ(attach(object, keyval, 2, &present), ATTRCACHE_PRESENT);
  EXPECT_EQ(present, reinterpret_cast<void*>(1));
  EXPECT_EQ(attach(object, keyval, 3, nullptr), ATTRCACHE_PRESENT);
  EXPECT_EQ(object.value(keyval), 1);
  EXPECT_TRUE(recorder.deletions.empty()) << "nothing is called back";
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(attach(object, keyval, 4, nullptr), ATTRCACHE_OK) << "it is absent again";
}

// What is present is seen as get sees it; and read in another language as it was set.
TEST_F(SetIfAbsentTest, ValuesOfEveryType) {
  for (const attrcache_tag tag : {ATTRCACHE_AS_INT, ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT}) {
    void *present = nullptr, *got = nullptr;
    intptr_t aint = 0;
    EXPECT_EQ(attach(object, keyval, -7, nullptr, tag), ATTRCACHE_OK);
    EXPECT_EQ(attach(object, keyval, 8, &present, tag), ATTRCACHE_PRESENT);
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
      EXPECT_EQ(attach(object, keyval, 2, nullptr), ATTRCACHE_OK);
      EXPECT_EQ(attach(object, keyval, 3, nullptr), ATTRCACHE_PRESENT);
      return code;
    };
    EXPECT_EQ(object.erase(keyval), code == 0 ? ATTRCACHE_OK : ATTRCACHE_ERR_CALLBACK);
    EXPECT_EQ(object.value(keyval), 2);
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  }
}

TEST_F(SetIfAbsentTest, Errors) {
  void* present = nullptr;
  EXPECT_EQ(attrcache_set_if_absent(nullptr, &object.table, &object, keyval, 1,
                                    ATTRCACHE_AS_POINTER, &present),
            ATTRCACHE_ERR_NULL);
  EXPECT_EQ(
      attrcache_set_if_absent(kind, nullptr, &object, keyval, 1, ATTRCACHE_AS_POINTER, &present),
      ATTRCACHE_ERR_NULL);
  for (const int tag : {-1, 4}) {
    EXPECT_EQ(attach(object, keyval, 1, &present, static_cast<attrcache_tag>(tag)),
              ATTRCACHE_ERR_ARGUMENT);
  }
  EXPECT_EQ(attach(object, ATTRCACHE_KEYVAL_INVALID, 1, &present), ATTRCACHE_ERR_KEYVAL_INVALID);
  EXPECT_EQ(attach(object, keyval + 16, 1, &present), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(attach(object, recorder.keyval(universe.kind(ATTRCACHE_WINDOW)), 1, &present),
            ATTRCACHE_ERR_KEYVAL_KIND);
  ASSERT_EQ(define(kind, 12), ATTRCACHE_OK);
  EXPECT_EQ(attach(object, 12, 1, &present), ATTRCACHE_ERR_KEYVAL_PREDEFINED);
  int variable = keyval;
  EXPECT_EQ(attrcache_keyval_free(kind, &variable), ATTRCACHE_OK);
  EXPECT_EQ(attach(object, keyval, 1, &present), ATTRCACHE_ERR_KEYVAL_STALE);
  EXPECT_EQ(present, nullptr);
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
