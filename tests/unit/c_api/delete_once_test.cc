// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <future>

#include "attrcache/attrcache.hpp"
#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// ATTRCACHE_DELETE_ONCE: a value whose delete_fn has run is gone, whatever that returned.

class DeleteOnceTest : public ApiTest {
 protected:
  DeleteOnceTest() { recorder.delete_code = 7; }

  int once() {
    attrcache_callbacks c = recorder.callbacks();
    c.flags = ATTRCACHE_DELETE_ONCE;
    return Recorder::make(kind, c);
  }
  void expect_gone(int keyval) { EXPECT_EQ(object.value(keyval), Object::kAbsent); }

  int code = 0;
};

TEST_F(DeleteOnceTest, DeleteFailsAndTheValueIsGone) {
  const int keyval = once();
  object.set(keyval, 1);
  EXPECT_EQ(object.erase(keyval, &code), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(code, 7);
  expect_gone(keyval);
  EXPECT_EQ(object.erase(keyval, &code), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1}));
}

// The new value stays the caller's: a call that fails has attached nothing.
TEST_F(DeleteOnceTest, SetFailsAndBothValuesAreOut) {
  const int keyval = once();
  object.set(keyval, 1);
  EXPECT_EQ(object.set(keyval, 2, &code), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(code, 7);
  expect_gone(keyval);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1}));
  recorder.delete_code = 0;
  object.set(keyval, 3);
  EXPECT_EQ(object.value(keyval), 3);
}

// Each call stops at a failure, but the attribute that failed is gone, and its keyval may end.
TEST_F(DeleteOnceTest, FreeStopsAndGoesOnBehindTheFailure) {
  int first = once();
  int second = once();
  object.set(first, 1);
  object.set(second, 2);
  EXPECT_EQ(attrcache_keyval_free(kind, &second), ATTRCACHE_OK);
  const auto free_all = [&] { return object.free(ATTRCACHE_STOP_AT_FAILURE, &code); };
  EXPECT_EQ(free_all(), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(recorder.destructions, 1);
  EXPECT_EQ(free_all(), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(free_all(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{2, 1}));
}

struct Thing {
  attrcache_table attributes = {};
};

int return_it(int* value) { return *value; }

TEST(DeleteOnceInCxxTest, OnceWrapsACallback) {
  auto domain = Domain::create();
  auto kind = domain->add_kind<Thing>("thing");
  Thing thing;
  int value = 7;
  int calls = 0;
  auto keyval = attrcache::Keyval<int, Thing>::create(*kind, attrcache::copy_nothing,
                                                      attrcache::once([&calls](int*) {
                                                        ++calls;
                                                        return 7;
                                                      }));
  auto by_function = attrcache::Keyval<int, Thing>::create(*kind, attrcache::copy_nothing,
                                                           attrcache::once(return_it));
  for (const auto* each : {&*keyval, &*by_function}) {
    ASSERT_TRUE(each->set(thing, &value));
    const Outcome out = each->erase(thing);
    EXPECT_EQ(out.status, Status::callback);
    EXPECT_EQ(out.callback_code, 7);
    EXPECT_EQ(each->get(thing), nullptr);
  }
  EXPECT_TRUE(kind->delete_all(thing));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace attrcache::support
