// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// Callbacks that are set after the keyval was made, and what else a runtime can set with them.

class SetCallbacksTest : public ApiTest {
 protected:
  int give(int keyval, const attrcache_callbacks& callbacks) {
    return attrcache_keyval_set_callbacks(kind, keyval, &callbacks);
  }
  // Sets, replaces and dups one attribute, and frees both objects.
  void use(int keyval) {
    EXPECT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
    EXPECT_EQ(object.set(keyval, 2), ATTRCACHE_OK);
    Object to(kind);
    EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
    copied = to.value(keyval);
    EXPECT_EQ(to.free(), ATTRCACHE_OK);
    EXPECT_EQ(object.free(), ATTRCACHE_OK);
  }

  intptr_t copied = 0;
};

TEST_F(SetCallbacksTest, FromNoneToSome) {
  const int keyval = Recorder::make(kind, {});
  EXPECT_EQ(give(keyval, recorder.callbacks()), ATTRCACHE_OK);
  use(keyval);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1, 2, 2}));
  EXPECT_EQ(recorder.copied(), (std::vector<intptr_t>{2}));
  EXPECT_EQ(copied, 2);
  EXPECT_EQ(free_keyval(kind, keyval), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 1);
}

TEST_F(SetCallbacksTest, FromSomeToNoneAndToDup) {
  const auto dup = with(&attrcache_callbacks::copy_fn, ATTRCACHE_DUP_FN);
  for (const attrcache_callbacks& given : {attrcache_callbacks{}, dup}) {
    const int keyval = recorder.keyval(kind);
    EXPECT_EQ(give(keyval, given), ATTRCACHE_OK);
    use(keyval);
    EXPECT_EQ(copied, given.copy_fn == ATTRCACHE_DUP_FN ? 2 : Object::kAbsent);
    EXPECT_EQ(free_keyval(kind, keyval), ATTRCACHE_OK);
  }
  EXPECT_TRUE(recorder.deletions.empty());
  EXPECT_TRUE(recorder.copies.empty());
  EXPECT_EQ(recorder.destructions, 0) << "the replaced callbacks' destructor doesn't run";
}

TEST_F(SetCallbacksTest, TheLanguageToo) {
  const int keyval = Recorder::make(kind, recorder.callbacks());
  static int value_seen;
  attrcache_callbacks fortran = {};
  fortran.language = ATTRCACHE_FORTRAN_FINT;
  fortran.delete_fn = reinterpret_cast<attrcache_callback*>(
      +[](int*, int*, int* value, int*, int* ierror) { value_seen = *value, *ierror = 0; });
  EXPECT_EQ(give(keyval, fortran), ATTRCACHE_OK);
  EXPECT_EQ(object.set_as(keyval, -6, ATTRCACHE_AS_FINT), ATTRCACHE_OK);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(value_seen, -6);
  attrcache_callbacks callbacks;
  EXPECT_EQ(attrcache_keyval_describe(kind, keyval, nullptr, &callbacks), ATTRCACHE_OK);
  EXPECT_EQ(callbacks.language, ATTRCACHE_FORTRAN_FINT);
}

TEST_F(SetCallbacksTest, NotAfterItsFirstUse) {
  const int keyval = recorder.keyval(kind);
  object.set(keyval, 1);
  EXPECT_EQ(give(keyval, {}), ATTRCACHE_ERR_BUSY);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deletions.size(), 1u) << "nothing was changed";
  EXPECT_EQ(give(keyval, {}), ATTRCACHE_ERR_BUSY) << "it was used";
  object.set(keyval, 2);
  free_keyval(kind, keyval);
  EXPECT_EQ(give(keyval, {}), ATTRCACHE_ERR_FREED);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 1);
  EXPECT_EQ(give(keyval, {}), ATTRCACHE_ERR_KEYVAL_STALE);
}

// ---- Raw callbacks, context ----

struct Runtime {
  int copies = 0, deletions = 0, ends = 0;
  attrcache_tag tag_seen = ATTRCACHE_AS_POINTER;
  int tag_out = -1;  // the copy's tag is left alone
  intptr_t value_seen = 0;

  static int copy(void*, int, void* extra, void* context, attrcache_tag tag, intptr_t value,
                  attrcache_tag* tag_out, intptr_t* value_out, int* flag) {
    auto* self = static_cast<Runtime*>(context);
    EXPECT_EQ(extra, self + 1);
    ++self->copies;
    self->tag_seen = tag;
    EXPECT_EQ(*tag_out, tag);
    EXPECT_EQ(*value_out, 0);
    EXPECT_EQ(*flag, 0);
    if (self->tag_out >= 0) *tag_out = static_cast<attrcache_tag>(self->tag_out);
    *value_out = value + 1;
    *flag = 1;
    return 0;
  }
  static int del(void*, int, void* extra, void* context, attrcache_tag tag, intptr_t value) {
    auto* self = static_cast<Runtime*>(context);
    EXPECT_EQ(extra, self + 1);
    ++self->deletions;
    self->tag_seen = tag;
    self->value_seen = value;
    return 0;
  }
  static void end(void* extra, void* context) {
    auto* self = static_cast<Runtime*>(context);
    EXPECT_EQ(extra, self + 1);
    ++self->ends;
    throw 5;  // it is caught
  }
  attrcache_callbacks callbacks() {
    attrcache_callbacks c = {};
    c.copy_fn = reinterpret_cast<attrcache_callback*>(&copy);
    c.delete_fn = reinterpret_cast<attrcache_callback*>(&del);
    c.extra_state = this + 1;
    c.language = ATTRCACHE_RAW;
    c.context = this;
    c.destructor = &end;
    return c;
  }
};

TEST_F(SetCallbacksTest, RawCallbacksGetWhatWasSetAndMayChangeTheTagOfACopy) {
  Runtime runtime;
  const int keyval = Recorder::make(kind, runtime.callbacks());
  for (const attrcache_tag tag :
       {ATTRCACHE_AS_POINTER, ATTRCACHE_AS_INT, ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT}) {
    for (const int tag_out : {-1, int{ATTRCACHE_AS_FINT}}) {
      runtime.tag_out = tag_out;
      Object from(kind), to(kind);
      EXPECT_EQ(from.set_as(keyval, -6, tag), ATTRCACHE_OK);
      EXPECT_EQ(from.copy_to(to), ATTRCACHE_OK);
      EXPECT_EQ(runtime.tag_seen, tag);
      EXPECT_EQ(to.list().at(0).tag, tag_out < 0 ? tag : ATTRCACHE_AS_FINT);
      EXPECT_EQ(to.list().at(0).value, -5);
      EXPECT_EQ(from.free(), ATTRCACHE_OK);
      EXPECT_EQ(runtime.tag_seen, tag);
      EXPECT_EQ(runtime.value_seen, -6);
    }
  }
  EXPECT_EQ(runtime.ends, 0);
  EXPECT_EQ(free_keyval(kind, keyval), ATTRCACHE_OK);
  EXPECT_EQ(runtime.ends, 1);
}

TEST(RawCallbacksTest, AFintOf64BitsIsCopiedWhole) {
  if (sizeof(intptr_t) < 8) GTEST_SKIP() << "an address has no room for it";
  const auto options = with(&attrcache_domain_options::fint_bytes, 8);
  Universe universe(&options);
  attrcache_kind* const kind = universe.kind();
  Runtime runtime;
  runtime.tag_out = ATTRCACHE_AS_FINT;
  const int keyval = Recorder::make(kind, runtime.callbacks());
  Object from(kind), to(kind);
  const auto wide = static_cast<intptr_t>(int64_t{3} << 33);
  EXPECT_EQ(from.set_as(keyval, wide, ATTRCACHE_AS_FINT), ATTRCACHE_OK);
  EXPECT_EQ(from.copy_to(to), ATTRCACHE_OK);
  EXPECT_EQ(to.list().at(0).value, wide + 1);
  EXPECT_EQ(from.free(), ATTRCACHE_OK);
  EXPECT_EQ(to.free(), ATTRCACHE_OK);
}

TEST_F(SetCallbacksTest, ATagThatDoesNotExist) {
  Runtime runtime;
  const int keyval = Recorder::make(kind, runtime.callbacks());
  EXPECT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
  runtime.tag_out = 4;
  Object to(kind);
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_TRUE(to.all_zero());
  EXPECT_EQ(universe.counters().attributes, 1u);
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  EXPECT_EQ(free_keyval(kind, keyval), ATTRCACHE_OK);
  EXPECT_EQ(runtime.ends, 1);
}

TEST_F(SetCallbacksTest, AContextEndsWithItsDomain) {
  Runtime runtime;
  Recorder::make(kind, runtime.callbacks());
  EXPECT_EQ(attrcache_domain_destroy(universe.release(), ATTRCACHE_DESTROY_IF_UNUSED, nullptr),
            ATTRCACHE_OK);
  EXPECT_EQ(runtime.ends, 1);
}

}  // namespace
}  // namespace attrcache::support
