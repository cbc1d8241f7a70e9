// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/executor.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>

#include "tests/support/fixture.h"

namespace attrcache {
namespace {

// What can't be seen through the C API; unit/c_api/languages_test and set_callbacks_test have the
// calling conventions.

class ExecutorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    callbacks.language = ATTRCACHE_C;
    convention.catch_exceptions = support::catch_exceptions;
  }

  attrcache_callbacks callbacks = {};
  CallingConvention convention = {};
  uint64_t value = 1;
};

TEST_F(ExecutorTest, ACopyFnThatSetsNothingCopiesNothing) {
  const auto silent = [](void*, int, void*, void*, void*, int*) { return 0; };
  callbacks.copy_fn = reinterpret_cast<attrcache_callback*>(+silent);
  const Copied copied =
      run_copy(callbacks, convention, nullptr, 0x40000010, value, ATTRCACHE_AS_POINTER);
  EXPECT_EQ(copied.code, 0);
  EXPECT_FALSE(copied.flag);
  EXPECT_EQ(copied.value, 0u);
}

// lib/include/README.md promises this.
TEST_F(ExecutorTest, TheExitOfAThreadWithinACallbackEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto leave = [](void*, int, void*, void*) -> int { pthread_exit(nullptr); };
  callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(+leave);
  const auto call = [&] {
    run_delete(callbacks, convention, nullptr, 0x40000010, value, ATTRCACHE_AS_POINTER);
  };
  EXPECT_DEATH(std::thread(call).join(), "");
}

TEST_F(ExecutorTest, TheDestructorGetsBothPointersAndMayThrow) {
  run_destructor(callbacks, convention);  // there is none
  static int calls;
  calls = 0;
  callbacks.extra_state = &calls;
  callbacks.context = &callbacks;
  callbacks.destructor = [](void* extra_state, void* context) {
    EXPECT_EQ(extra_state, &calls);
    EXPECT_EQ(static_cast<attrcache_callbacks*>(context)->context, context);
    ++calls;
    throw 5;
  };
  run_destructor(callbacks, convention);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace attrcache
