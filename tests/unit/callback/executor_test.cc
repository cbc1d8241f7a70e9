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

Copied run_copy(KeyvalCallbacks& callbacks, const CallbackArguments& arguments) {
  return attrcache::run_copy(callbacks, arguments, [](Copied copied) { return copied; });
}

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
void copy_long(int64_t* object, int64_t* keyval, int64_t* extra, int64_t* in, int64_t* out,
               int64_t* flag, int64_t* ierror) {
  *flag = call.flag;
  *out = call.copy;
  *ierror = note(*object, static_cast<int>(*keyval), (*extra)++, *in);
}
void delete_long(int64_t* object, int64_t* keyval, int64_t* value, int64_t* extra,
                 int64_t* ierror) {
  *ierror = note(*object, static_cast<int>(*keyval), (*extra)++, *value);
}
void silent_fortran_copy(int*, int*, int*, int*, int*, int*, int*) {}

struct Raw {
  attrcache_tag tag;
  void* context;
  int tag_out;  // -1: it is left alone
};
Raw raw;
int copy_raw(void* object, int keyval, void* extra, void* context, attrcache_tag tag, intptr_t in,
             attrcache_tag* tag_out, intptr_t* out, int* flag) {
  raw.tag = tag;
  raw.context = context;
  if (raw.tag_out >= 0) *tag_out = static_cast<attrcache_tag>(raw.tag_out);
  EXPECT_EQ(*out, 0);
  EXPECT_EQ(*flag, 0);
  *flag = call.flag;
  *out = call.copy;
  return note(number(object), keyval, number(extra), in);
}
int delete_raw(void* object, int keyval, void* extra, void* context, attrcache_tag tag,
               intptr_t value) {
  raw.tag = tag;
  raw.context = context;
  return note(number(object), keyval, number(extra), value);
}

int silent_copy(void*, int, void*, void*, void*, int*) { return 0; }
int throwing_copy(void*, int, void*, void*, void*, int*) { throw std::runtime_error("copy"); }
int throwing_delete(void*, int, void*, void*) { throw 5; }

int doubled(void* object) { return static_cast<int>(2 * number(object)); }

class ExecutorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    call = {};
    convention_.catch_exceptions = support::catch_exceptions;
  }

  static KeyvalCallbacks keyval_callbacks(attrcache_callback* copy_fn,
                                          attrcache_callback* delete_fn,
                                          attrcache_language language, intptr_t extra_state) {
    KeyvalCallbacks callbacks = {};
    callbacks.functions.copy_fn = copy_fn;
    callbacks.functions.delete_fn = delete_fn;
    callbacks.functions.extra_state = pointer(extra_state);
    callbacks.functions.language = language;
    return callbacks;
  }
  CallbackArguments subject(intptr_t object, int64_t value,
                            attrcache_tag tag = ATTRCACHE_AS_POINTER) {
    value_ = static_cast<uint64_t>(value);
    return {convention_, pointer(object), kKeyval, &value_, tag};
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
  KeyvalCallbacks h = keyval_callbacks(callback(copy_int), callback(delete_int), ATTRCACHE_C, 1);
  convention_.handle = ATTRCACHE_HANDLE_INT;
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

// -fdefault-integer-8: both Fortran languages are the same then.
TEST_F(ExecutorTest, FortranIntegersMayHave64Bits) {
  if (sizeof(intptr_t) < 8) GTEST_SKIP() << "no domain has them there";
  convention_.fint_is_64_bits = true;
  convention_.fortran_handle = doubled;
  for (const attrcache_language language : {ATTRCACHE_FORTRAN_FINT, ATTRCACHE_FORTRAN_AINT}) {
    KeyvalCallbacks h =
        keyval_callbacks(callback(copy_long), callback(delete_long), language, wide(0x100000000));
    call = {};
    call.flag = 1;
    call.copy = wide(-0x200000000);
    const Copied copied = run_copy(h, subject(8, wide(-0x300000000), ATTRCACHE_AS_AINT));
    expect_call(16, wide(0x100000000), wide(-0x300000000));
    EXPECT_TRUE(copied.flag);
    EXPECT_EQ(static_cast<int64_t>(copied.value), wide(-0x200000000));
    EXPECT_EQ(copied.tag, ATTRCACHE_AS_AINT);
    call.code = 3;
    EXPECT_EQ(run_delete(h, subject(8, wide(0x500000000), ATTRCACHE_AS_AINT)), 3);
    expect_call(16, wide(0x100000001), wide(0x500000000));
  }
}

TEST_F(ExecutorTest, FalseIsWhatFortranSaysItIs) {
  convention_.fortran_false = 7;
  KeyvalCallbacks h = keyval_callbacks(callback(copy_fortran<int>), callback(delete_fortran<int>),
                                       ATTRCACHE_FORTRAN_FINT, 0);
  for (const int flag : {0, 1, -1, 7}) {
    call.flag = flag;
    EXPECT_EQ(run_copy(h, subject(1, 1)).flag, flag != 7) << flag;
  }
  KeyvalCallbacks silent =
      keyval_callbacks(callback(silent_fortran_copy), nullptr, ATTRCACHE_FORTRAN_FINT, 0);
  EXPECT_FALSE(run_copy(silent, subject(1, 1)).flag) << "it is .FALSE. unless the callback sets it";
}

TEST_F(ExecutorTest, RawCallbacksGetWhatWasSet) {
  KeyvalCallbacks h = keyval_callbacks(callback(copy_raw), callback(delete_raw), ATTRCACHE_RAW, 11);
  int context = 0;
  h.functions.context = &context;
  convention_.handle = ATTRCACHE_HANDLE_INT;
  for (const attrcache_tag tag :
       {ATTRCACHE_AS_POINTER, ATTRCACHE_AS_INT, ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT}) {
    raw = {};
    raw.tag_out = -1;
    call = {};
    call.flag = 1;
    call.copy = 77;
    Copied copied = run_copy(h, subject(wide(0x5000000000), -6, tag));
    expect_call(wide(0x5000000000), 11, -6);
    EXPECT_EQ(raw.tag, tag);
    EXPECT_EQ(raw.context, &context);
    EXPECT_EQ(copied.tag, tag) << "unless the callback says another one";
    EXPECT_EQ(copied.value, 77u);
    raw.tag_out = ATTRCACHE_AS_INT;
    call.copy = wide(0x1fffffffe);
    copied = run_copy(h, subject(1, -6, tag));
    EXPECT_EQ(copied.tag, ATTRCACHE_AS_INT);
    EXPECT_EQ(static_cast<int64_t>(copied.value), -2) << "an int, sign-extended";
    raw.context = nullptr;
    call.code = 9;
    EXPECT_EQ(run_delete(h, subject(wide(0x5000000000), -7, tag)), 9);
    expect_call(wide(0x5000000000), 11, -7);
    EXPECT_EQ(raw.tag, tag);
    EXPECT_EQ(raw.context, &context);
  }
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
  run_destructor(h, convention_);  // there is none
  h.functions.destructor = [](void* extra_state) {
    note(0, 0, number(extra_state), 0);
    throw 5;
  };
  run_destructor(h, convention_);
  EXPECT_EQ(call.calls, 1);
  EXPECT_EQ(call.extra_state, 0x77);
}

TEST_F(ExecutorTest, TheRuntimesDestructorComesAfterTheUsers) {
  KeyvalCallbacks h = keyval_callbacks(nullptr, nullptr, ATTRCACHE_C, 0x77);
  h.functions.destructor = [](void* extra_state) {
    EXPECT_EQ(call.calls, 0);
    note(0, 0, number(extra_state), 0);
    throw 5;
  };
  h.functions.context = &h;
  h.functions.context_destructor = [](void* context, void* extra_state) {
    EXPECT_EQ(call.calls, 1);
    note(number(context), 0, number(extra_state), 0);
    throw 5;
  };
  run_destructor(h, convention_);
  EXPECT_EQ(call.calls, 2);
  EXPECT_EQ(call.object, number(&h));
  EXPECT_EQ(call.extra_state, 0x77);
}

}  // namespace
}  // namespace attrcache
