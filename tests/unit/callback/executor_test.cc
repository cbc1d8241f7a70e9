// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/executor.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <stdexcept>
#include <thread>

#include "tests/support/fixture.h"

namespace attrcache {
namespace {

constexpr int kKeyval = 0x40000010;

// A pointer's or an Aint's worth of a number: its low bits, where those have 32.
constexpr intptr_t wide(int64_t number) { return static_cast<intptr_t>(number); }

// The arguments of the last callback, and what it is to return.
struct Call {
  intptr_t object;
  int keyval;
  intptr_t extra_state;
  intptr_t value;
  int calls;
  int code;
  int flag;
  intptr_t copy;
};
Call call;

template <typename Function>
attrcache_callback* callback(Function* function) {
  return reinterpret_cast<attrcache_callback*>(function);
}
void* pointer(intptr_t value) { return reinterpret_cast<void*>(value); }
intptr_t number(void* pointer) { return reinterpret_cast<intptr_t>(pointer); }

int note(intptr_t object, int keyval, intptr_t extra_state, intptr_t value) {
  call.object = object;
  call.keyval = keyval;
  call.extra_state = extra_state;
  call.value = value;
  ++call.calls;
  return call.code;
}

int copy_c(void* object, int keyval, void* extra, void* in, void* out, int* flag) {
  *flag = call.flag;
  *static_cast<void**>(out) = pointer(call.copy);
  return note(number(object), keyval, number(extra), number(in));
}
int delete_c(void* object, int keyval, void* value, void* extra) {
  return note(number(object), keyval, number(extra), number(value));
}
int copy_int(int object, int keyval, void* extra, void* in, void* out, int* flag) {
  *flag = call.flag;
  *static_cast<void**>(out) = pointer(call.copy);
  return note(object, keyval, number(extra), number(in));
}
int delete_int(int object, int keyval, void* value, void* extra) {
  return note(object, keyval, number(extra), number(value));
}
// Both callbacks add one to their extra_state.
template <typename Value>
void copy_fortran(int* object, int* keyval, Value* extra, Value* in, Value* out, int* flag,
                  int* ierror) {
  *flag = call.flag;
  *out = static_cast<Value>(call.copy);
  *ierror = note(*object, *keyval, (*extra)++, *in);
}
template <typename Value>
void delete_fortran(int* object, int* keyval, Value* value, Value* extra, int* ierror) {
  *ierror = note(*object, *keyval, (*extra)++, *value);
}
int silent_copy(void*, int, void*, void*, void*, int*) { return 0; }
int throwing_copy(void*, int, void*, void*, void*, int*) { throw std::runtime_error("copy"); }
int throwing_delete(void*, int, void*, void*) { throw 5; }

int doubled(void* object) { return static_cast<int>(2 * number(object)); }

class ExecutorTest : public ::testing::Test {
 protected:
  void SetUp() override { call = {}; }

  KeyvalCallbacks keyval_callbacks(attrcache_callback* copy_fn, attrcache_callback* delete_fn,
                                   attrcache_language language, intptr_t extra_state,
                                   attrcache_handle_form handle = ATTRCACHE_HANDLE_POINTER) {
    convention_ = {handle, nullptr, support::catch_exceptions};
    return {{copy_fn, delete_fn, pointer(extra_state), language, nullptr}, &convention_};
  }
  CallbackArguments subject(intptr_t object, int64_t value,
                            attrcache_tag tag = ATTRCACHE_AS_POINTER) {
    value_ = static_cast<uint64_t>(value);
    return {pointer(object), kKeyval, &value_, tag};
  }
  static void expect_call(intptr_t object, intptr_t extra_state, intptr_t value) {
    EXPECT_EQ(call.object, object);
    EXPECT_EQ(call.keyval, kKeyval);
    EXPECT_EQ(call.extra_state, extra_state);
    EXPECT_EQ(call.value, value);
  }

  CallingConvention convention_ = {};
  uint64_t value_;
};

TEST_F(ExecutorTest, CGetsPointers) {
  KeyvalCallbacks h = keyval_callbacks(callback(copy_c), callback(delete_c), ATTRCACHE_C, 0x7000);
  call.flag = 1;
  call.copy = wide(0x123456789a);
  const Copied copied = run_copy(h, subject(wide(0x5000000000), wide(0x6000000000)));
  expect_call(wide(0x5000000000), 0x7000, wide(0x6000000000));
  EXPECT_EQ(copied.code, 0);
  EXPECT_TRUE(copied.flag);
  EXPECT_EQ(copied.value, static_cast<uint64_t>(wide(0x123456789a)));
  EXPECT_EQ(copied.tag, ATTRCACHE_AS_POINTER);

  call.code = 17;
  EXPECT_EQ(run_delete(h, subject(wide(0x5000000000), wide(0x6000000000))), 17);
  expect_call(wide(0x5000000000), 0x7000, wide(0x6000000000));
}

TEST_F(ExecutorTest, IntHandlesAreTheLowBits) {
  KeyvalCallbacks h = keyval_callbacks(callback(copy_int), callback(delete_int), ATTRCACHE_C, 1,
                                       ATTRCACHE_HANDLE_INT);
  const int handle = static_cast<int>(0x84000001);  // as MPICH's, negative
  run_copy(h, subject(handle, 2));
  expect_call(handle, 1, 2);
  run_delete(h, subject(handle, 3));
  expect_call(handle, 1, 3);
}

TEST_F(ExecutorTest, CSeesTheAddressOfWhatFortranSet) {
  KeyvalCallbacks h = keyval_callbacks(callback(copy_c), callback(delete_c), ATTRCACHE_C, 0);
  const CallbackArguments s = subject(1, -9, ATTRCACHE_AS_AINT);
  run_copy(h, s);
  EXPECT_EQ(call.value, reinterpret_cast<intptr_t>(s.at));
  run_delete(h, s);
  EXPECT_EQ(call.value, reinterpret_cast<intptr_t>(s.at));
}

TEST_F(ExecutorTest, FortranGetsIntegersOfItsSize) {
  KeyvalCallbacks aint =
      keyval_callbacks(callback(copy_fortran<intptr_t>), callback(delete_fortran<intptr_t>),
                       ATTRCACHE_FORTRAN_AINT, wide(0x100000000));
  call.flag = 1;
  call.copy = wide(-0x200000000);
  const Copied copied = run_copy(aint, subject(8, wide(-0x300000000)));
  expect_call(8, wide(0x100000000), wide(-0x300000000));
  EXPECT_TRUE(copied.flag);
  EXPECT_EQ(static_cast<int64_t>(copied.value), wide(-0x200000000));
  EXPECT_EQ(copied.tag, ATTRCACHE_AS_AINT);
  call.code = 3;
  EXPECT_EQ(run_delete(aint, subject(8, 5)), 3);

  call = {};
  KeyvalCallbacks fint = keyval_callbacks(
      callback(copy_fortran<int>), callback(delete_fortran<int>), ATTRCACHE_FORTRAN_FINT, 70);
  call.flag = 1;
  call.copy = -6;
  const Copied small = run_copy(fint, subject(8, wide(0x500000004)));
  expect_call(8, 70, 4);
  EXPECT_EQ(static_cast<int64_t>(small.value), -6) << "sign-extended";
  EXPECT_EQ(small.tag, ATTRCACHE_AS_FINT);
}

TEST_F(ExecutorTest, FortranKeepsWhatItWritesToExtraState) {
  KeyvalCallbacks h =
      keyval_callbacks(callback(copy_fortran<intptr_t>), callback(delete_fortran<intptr_t>),
                       ATTRCACHE_FORTRAN_AINT, 40);
  run_copy(h, subject(1, 1));
  run_delete(h, subject(1, 1));
  EXPECT_EQ(call.extra_state, 41);
  EXPECT_EQ(number(h.functions.extra_state), 42);
}

TEST_F(ExecutorTest, FortranHandlesComeFromTheRuntimeIfItHasAWay) {
  KeyvalCallbacks h = keyval_callbacks(callback(copy_fortran<int>), callback(delete_fortran<int>),
                                       ATTRCACHE_FORTRAN_FINT, 0);
  run_delete(h, subject(21, 0));
  EXPECT_EQ(call.object, 21);
  convention_.fortran_handle = doubled;
  run_delete(h, subject(21, 0));
  EXPECT_EQ(call.object, 42);
  run_copy(h, subject(22, 0));
  EXPECT_EQ(call.object, 44);
}

TEST_F(ExecutorTest, ACopyThatSaysNothingCopiesNothing) {
  KeyvalCallbacks h = keyval_callbacks(callback(silent_copy), callback(delete_c), ATTRCACHE_C, 0);
  const Copied copied = run_copy(h, subject(1, 1));
  EXPECT_EQ(copied.code, 0);
  EXPECT_FALSE(copied.flag);
  EXPECT_EQ(copied.value, 0u);
}

TEST_F(ExecutorTest, ExceptionsBecomeACode) {
  KeyvalCallbacks h =
      keyval_callbacks(callback(throwing_copy), callback(throwing_delete), ATTRCACHE_C, 0);
  const Copied copied = run_copy(h, subject(1, 1));
  EXPECT_EQ(copied.code, ATTRCACHE_CALLBACK_THREW);
  EXPECT_FALSE(copied.flag);
  EXPECT_EQ(run_delete(h, subject(1, 1)), ATTRCACHE_CALLBACK_THREW);
}

// lib/include/README.md promises this.
TEST_F(ExecutorTest, TheExitOfAThreadWithinACallbackEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto leave = [](void*, int, void*, void*) -> int { pthread_exit(nullptr); };
  KeyvalCallbacks h = keyval_callbacks(nullptr, callback(+leave), ATTRCACHE_C, 0);
  EXPECT_DEATH(std::thread([&] { run_delete(h, subject(1, 1)); }).join(), "");
}

TEST_F(ExecutorTest, DestructorsGetTheExtraStateAndMayThrow) {
  KeyvalCallbacks h = keyval_callbacks(nullptr, nullptr, ATTRCACHE_C, 0x77);
  run_destructor(h);  // there is none
  h.functions.destructor = [](void* extra_state) {
    note(0, 0, number(extra_state), 0);
    throw 5;
  };
  run_destructor(h);
  EXPECT_EQ(call.calls, 1);
  EXPECT_EQ(call.extra_state, 0x77);
}

}  // namespace
}  // namespace attrcache
