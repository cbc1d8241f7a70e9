// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// Creating and freeing keyvals.

class KeyvalTest : public ApiTest {};

TEST_F(KeyvalTest, CreateGivesANewKeyval) {
  const int a = recorder.keyval(kind);
  const int b = recorder.keyval(kind);
  EXPECT_NE(a, b);
  for (const int keyval : {a, b}) {
    EXPECT_NE(keyval, ATTRCACHE_KEYVAL_INVALID);
    EXPECT_GE(keyval, ATTRCACHE_KEYVAL_MIN);
    EXPECT_LE(keyval, ATTRCACHE_KEYVAL_MAX);
  }
}

TEST_F(KeyvalTest, NoCallbacksCopiesNothingAndDeletesSilently) {
  int keyval;
  ASSERT_EQ(attrcache_keyval_create(kind, nullptr, &keyval), ATTRCACHE_OK);
  Object from(kind), to(kind);
  from.set(keyval, 5);
  EXPECT_EQ(from.copy_to(to), ATTRCACHE_OK);
  EXPECT_EQ(to.value(keyval), Object::kAbsent);
  EXPECT_EQ(from.set(keyval, 6), ATTRCACHE_OK);
  EXPECT_EQ(from.value(keyval), 6);
  EXPECT_EQ(from.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(from.value(keyval), Object::kAbsent);
}

TEST_F(KeyvalTest, DupFnCopiesValueAndTagWithoutACall) {
  const int keyval = make_keyval(kind, ATTRCACHE_DUP_FN, ATTRCACHE_NULL_DELETE_FN);
  for (const attrcache_tag tag :
       {ATTRCACHE_AS_POINTER, ATTRCACHE_AS_INT, ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT}) {
    Object from(kind), to(kind);
    from.set_as(keyval, -7, tag);
    EXPECT_EQ(from.copy_to(to), ATTRCACHE_OK);
    ASSERT_EQ(to.list().size(), 1u);
    EXPECT_EQ(to.list()[0].tag, tag);
    EXPECT_EQ(to.list()[0].value, -7);
  }
}

TEST_F(KeyvalTest, FreedAndAttachedStillServesEveryCall) {
  const int keyval = recorder.keyval(kind);
  recorder.copy_adds = 100;
  Object a(kind), b(kind), c(kind);
  a.set(keyval, 1);
  EXPECT_EQ(free_keyval(kind, keyval), ATTRCACHE_OK);
  EXPECT_EQ(a.value(keyval), 1);
  EXPECT_EQ(b.value(keyval), Object::kAbsent);
  EXPECT_EQ(a.set(keyval, 2), ATTRCACHE_OK);  // replace
  EXPECT_EQ(b.set(keyval, 3), ATTRCACHE_OK);  // attach
  EXPECT_EQ(a.copy_to(c), ATTRCACHE_OK);      // dup
  EXPECT_EQ(c.value(keyval), 102);
  EXPECT_EQ(a.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(b.free(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 0);
  EXPECT_EQ(c.free(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 1);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1, 2, 3, 102}));
  EXPECT_EQ(a.set(keyval, 4), ATTRCACHE_ERR_KEYVAL_STALE);
}

TEST_F(KeyvalTest, TheDestructorRunsAtOnceIfNothingIsAttached) {
  const int keyval = recorder.keyval(kind);
  Object object(kind);
  object.set(keyval, 1);
  object.erase(keyval);
  EXPECT_EQ(free_keyval(kind, keyval), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 1);
  EXPECT_EQ(universe.counters().keyvals_gone, 1u);
  EXPECT_EQ(universe.counters().reclaimable, 0u);
}

TEST_F(KeyvalTest, TheDestructorMayFreeTheVariableThatHeldTheKeyval) {
  // As when the keyval is a member of what extra_state points to.
  auto* variable = new int(recorder.keyval(kind));
  recorder.on_destroy = [variable] { delete variable; };
  EXPECT_EQ(attrcache_keyval_free(kind, variable), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 1);
}

TEST_F(KeyvalTest, AnIndexIsReusedOnlyWhenItsKeyvalIsGone) {
  const int held = recorder.keyval(kind);
  Object object(kind);
  object.set(held, 1);
  free_keyval(kind, held);
  constexpr int kIndexBits = 0x1ffff0;
  for (int i = 0; i < 500; ++i) {
    const int keyval = Recorder::make(kind, {});
    EXPECT_NE(keyval & kIndexBits, held & kIndexBits);
    free_keyval(kind, keyval);
  }
  EXPECT_EQ(object.value(held), 1);
  object.erase(held);
  bool reused = false;
  for (int i = 0; i < 500; ++i) {
    const int keyval = Recorder::make(kind, {});
    reused |= (keyval & kIndexBits) == (held & kIndexBits);
    EXPECT_NE(keyval, held);
    free_keyval(kind, keyval);
  }
  EXPECT_TRUE(reused);
}

}  // namespace
}  // namespace attrcache::support
