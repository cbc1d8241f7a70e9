// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <pthread.h>

#include <thread>

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// How values are converted between languages, and the calling conventions of callbacks.

// ---- set as x read as --------------------------------------------------------------------------

struct Row {
  attrcache_tag tag;
  intptr_t set;
  int fint;
  intptr_t aint;
};

class ConversionTest : public ::testing::TestWithParam<Row> {};

TEST_P(ConversionTest, EachLanguageReadsWhatTheTableSays) {
  const Row row = GetParam();
  Universe universe;
  attrcache_kind* kind = universe.kind();
  for (int depth = 0; depth < 100; ++depth) {
    const int keyval = Recorder::make(kind, {});
    if (depth != 0 && depth != 5 && depth != 20 && depth != 99) continue;
    Object object(kind);
    ASSERT_EQ(object.set_as(keyval, row.set, row.tag), ATTRCACHE_OK);
    EXPECT_EQ(object.fint(keyval), row.fint);
    EXPECT_EQ(object.aint(keyval), row.aint);
    void* c = nullptr;
    EXPECT_EQ(object.get(keyval, &c), ATTRCACHE_OK);
    switch (row.tag) {
      case ATTRCACHE_AS_POINTER:
        EXPECT_EQ(reinterpret_cast<intptr_t>(c), row.set);
        break;
      case ATTRCACHE_AS_AINT:
        EXPECT_EQ(*static_cast<intptr_t*>(c), row.set);
        break;
      default:
        EXPECT_EQ(*static_cast<int*>(c), row.fint);
    }
    void* again = nullptr;
    object.set(Recorder::make(kind, {}), 1);
    EXPECT_EQ(object.get(keyval, &again), ATTRCACHE_OK);
    EXPECT_EQ(c, again) << "the storage doesn't move";
  }
}

constexpr auto kBig = static_cast<intptr_t>(0x123456789abcdef0);
constexpr intptr_t kLow = static_cast<int>(0x9abcdef0);
INSTANTIATE_TEST_SUITE_P(
    Table, ConversionTest,
    ::testing::Values(Row{ATTRCACHE_AS_POINTER, kBig, kLow, kBig},
                      Row{ATTRCACHE_AS_POINTER, 0, 0, 0}, Row{ATTRCACHE_AS_POINTER, -1, -1, -1},
                      Row{ATTRCACHE_AS_INT, 17, 17, 17}, Row{ATTRCACHE_AS_INT, -17, -17, -17},
                      Row{ATTRCACHE_AS_INT, kBig, kLow, kLow}, Row{ATTRCACHE_AS_FINT, 18, 18, 18},
                      Row{ATTRCACHE_AS_FINT, -18, -18, -18},
                      Row{ATTRCACHE_AS_FINT, kBig, kLow, kLow},
                      Row{ATTRCACHE_AS_AINT, kBig, kLow, kBig},
                      Row{ATTRCACHE_AS_AINT, -kBig, static_cast<int>(-kBig), -kBig},
                      Row{ATTRCACHE_AS_AINT, -1, -1, -1}));

TEST(ConversionAbsentTest, ReadersOfEveryLanguageLeaveTheVariableAlone) {
  Universe universe;
  void* c = &universe;
  const int keyval = Recorder::make(universe.kind(), {});
  Object object(universe.kind());
  int fint = 7;
  intptr_t aint = 8;
  EXPECT_EQ(attrcache_get_fint(object.kind, &object.table, keyval, &fint), ATTRCACHE_ABSENT);
  EXPECT_EQ(attrcache_get_aint(object.kind, &object.table, keyval, &aint), ATTRCACHE_ABSENT);
  EXPECT_EQ(object.get(keyval, &c), ATTRCACHE_ABSENT);
  EXPECT_EQ(fint, 7);
  EXPECT_EQ(aint, 8);
  EXPECT_EQ(c, &universe);
}

// What set_if_absent finds is seen as get sees it; and read in another language as it was set.
TEST(PresentTest, WhatIsPresentInEveryLanguage) {
  Universe universe;
  attrcache_kind* const kind = universe.kind();
  const int keyval = Recorder::make(kind, {});
  Object object(kind);
  for (const attrcache_tag tag :
       {ATTRCACHE_AS_POINTER, ATTRCACHE_AS_INT, ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT}) {
    void *present = &universe, *got = nullptr;
    EXPECT_EQ(object.set_if_absent(keyval, -7, &present, tag), ATTRCACHE_OK);
    EXPECT_EQ(present, &universe);
    EXPECT_EQ(object.set_if_absent(keyval, 8, nullptr, tag), ATTRCACHE_PRESENT);
    EXPECT_EQ(object.set_if_absent(keyval, 8, &present, tag), ATTRCACHE_PRESENT);
    EXPECT_EQ(object.get(keyval, &got), ATTRCACHE_OK);
    EXPECT_EQ(present, got);
    EXPECT_EQ(object.aint(keyval), -7);
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  }
}

// ---- Calling conventions ------------------------------------------------------------------------

// The arguments of the last callback of each sort.
struct Seen {
  int object = 0;
  int keyval = 0;
  intptr_t extra = 0;
  intptr_t value = 0;
  int calls = 0;
} seen;

// Int: int or intptr_t.
template <typename Int>
void copy_int(int* object, int* keyval, Int* extra, Int* in, Int* out, int* flag, int* ierror) {
  seen = {*object, *keyval, *extra, *in, seen.calls + 1};
  *out = *in + 1;
  *flag = 1;
  *ierror = *in == 99 ? 42 : 0;
}
template <typename Int>
void delete_int(int* object, int* keyval, Int* value, Int* extra, int* ierror) {
  seen = {*object, *keyval, *extra, *value, seen.calls + 1};
  *ierror = *value == 98 ? 43 : 0;
}

class FortranTest : public ::testing::TestWithParam<attrcache_language> {
 protected:
  void SetUp() override {
    seen = {};
    aint = GetParam() == ATTRCACHE_FORTRAN_AINT;
    const auto extra_state = reinterpret_cast<void*>(-5);
    keyval = make_keyval(kind, aint ? callback(copy_int<intptr_t>) : callback(copy_int<int>),
                         aint ? callback(delete_int<intptr_t>) : callback(delete_int<int>),
                         extra_state, GetParam());
    tag = aint ? ATTRCACHE_AS_AINT : ATTRCACHE_AS_FINT;
  }
  static int handle_of(void* object) { return object == nullptr ? 0 : 1234; }
  static attrcache_domain_options options() {
    static constexpr attrcache_kind_options kCommunicator = {
        .handle = ATTRCACHE_HANDLE_POINTER, .name = nullptr, .fortran_handle = &handle_of};
    return with(&attrcache_domain_options::communicator, &kCommunicator);
  }

  const attrcache_domain_options given = options();
  Universe universe{&given};
  attrcache_kind* kind = universe.kind();
  int keyval = 0;
  bool aint = false;
  attrcache_tag tag = ATTRCACHE_AS_FINT;
  Object object{kind};
  Object to{kind};
};

TEST_P(FortranTest, CallbacksGetEverythingByReferenceInTheirOwnConvention) {
  const intptr_t value = aint ? kBig : -6;
  object.set_as(keyval, value, tag);
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
  EXPECT_EQ(seen.object, 1234);
  EXPECT_EQ(seen.keyval, keyval);
  EXPECT_EQ(seen.extra, -5);
  EXPECT_EQ(seen.value, value);
  ASSERT_EQ(to.list().size(), 1u);
  EXPECT_EQ(to.list()[0].value, value + 1);
  EXPECT_EQ(to.list()[0].tag, tag) << "a Fortran callback's copy counts as set in Fortran";
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(seen.value, value);
  EXPECT_EQ(seen.calls, 2);
}

TEST_P(FortranTest, IerrorIsTheCallbacksCode) {
  int code = 0;
  object.set_as(keyval, 99, tag);
  EXPECT_EQ(object.copy_to(to, &code), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(code, 42);
  object.erase(keyval);
  object.set_as(keyval, 98, tag);
  EXPECT_EQ(object.erase(keyval, &code), ATTRCACHE_ERR_CALLBACK);
  EXPECT_EQ(code, 43);
  EXPECT_EQ(object.free(ATTRCACHE_DRAIN), ATTRCACHE_ERR_CALLBACK);
}

TEST_P(FortranTest, APointerSetInCReachesAFortranCallback) {
  object.set(keyval, kBig);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(seen.value, aint ? kBig : kLow);
}

// The tomb keeps the INTEGER of the object, which may be freed by then.
TEST_P(FortranTest, ADeletionThatWasLeftGetsItsArgumentsToo) {
  object.set_as(keyval, -6, tag);
  attrcache_borrowed borrowed = {};
  EXPECT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed), ATTRCACHE_OK);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(seen.calls, 0);
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.object, 1234);
  EXPECT_EQ(seen.value, -6);
}

INSTANTIATE_TEST_SUITE_P(Languages, FortranTest,
                         ::testing::Values(ATTRCACHE_FORTRAN_FINT, ATTRCACHE_FORTRAN_AINT));

TEST(CCallbackTest, ACopyFnThatSetsNothingCopiesNothing) {
  Universe universe;
  Object object(universe.kind()), to(universe.kind());
  const auto silent = [](void*, int, void*, void*, void*, int*) { return 0; };
  object.set(make_keyval(object.kind, callback(+silent), nullptr), 1);
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
  EXPECT_TRUE(to.all_zero());
}

// lib/include/README.md promises this.
TEST(CCallbackTest, TheExitOfAThreadWithinACallbackEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Universe universe;
  Object object(universe.kind());
  const auto leave = [](void*, int, void*, void*) -> int { pthread_exit(nullptr); };
  const int keyval = make_keyval(object.kind, nullptr, callback(+leave));
  object.set(keyval, 1);
  EXPECT_DEATH(std::thread([&] { object.erase(keyval); }).join(), "");
  EXPECT_EQ(attrcache_table_abandon(object.kind, &object.table), ATTRCACHE_OK);
}

// Fortran callbacks get the address of extra_state, so they may change it. Without a
// fortran_handle, the handle is the low bits of the object's address.
void* handle_seen_as;
void counting_copy_aint(int* object, int*, intptr_t* extra, intptr_t*, intptr_t*, int*, int*) {
  EXPECT_EQ(*object, static_cast<int>(reinterpret_cast<intptr_t>(handle_seen_as)));
  *extra += 1000;
}
void counting_delete_aint(int* object, int*, intptr_t* value, intptr_t* extra, int* ierror) {
  EXPECT_EQ(*object, static_cast<int>(reinterpret_cast<intptr_t>(handle_seen_as)));
  *extra += *value;
  *ierror = 0;
}
TEST(FortranExtraStateTest, LivesAsLongAsTheKeyval) {
  Universe universe;
  static void* at_the_end;
  at_the_end = nullptr;
  const int keyval =
      make_keyval(universe.kind(), callback(counting_copy_aint), callback(counting_delete_aint),
                  reinterpret_cast<void*>(100), ATTRCACHE_FORTRAN_AINT,
                  [](void* extra, void*) { at_the_end = extra; });
  Object object(universe.kind()), none(universe.kind());
  handle_seen_as = &object;
  for (int i = 1; i <= 4; ++i) object.set_as(keyval, i, ATTRCACHE_AS_AINT);
  EXPECT_EQ(object.copy_to(none), ATTRCACHE_OK);
  EXPECT_TRUE(none.all_zero()) << "the flag is .FALSE. unless the callback sets it";
  object.erase(keyval);
  free_keyval(universe.kind(), keyval);
  EXPECT_EQ(at_the_end, reinterpret_cast<void*>(1110));
}

// An attribute that is set in Fortran is copied by a C copy_fn. It gets the address of the value,
// and the copy is the pointer that it returns.
TEST(MixedLanguagesTest, AFortranValueReachesACCallbackAsAnAddress) {
  Recorder recorder;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  const int keyval = recorder.keyval(kind);
  Object from(kind), to(kind);
  static int target;
  for (const attrcache_tag tag : {ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT, ATTRCACHE_AS_INT}) {
    intptr_t copied = 0, deleted = 0;
    const auto read = [tag](const Call& call) {
      auto* at = reinterpret_cast<void*>(call.value);
      return tag == ATTRCACHE_AS_AINT ? *static_cast<intptr_t*>(at) : *static_cast<int*>(at);
    };
    recorder.on_copy = [&](const Call& call, void** out, int* flag) {
      copied = read(call);
      return copy_as(reinterpret_cast<intptr_t>(&target), out, flag);
    };
    from.set_as(keyval, -12, tag);
    EXPECT_EQ(from.copy_to(to), ATTRCACHE_OK);
    EXPECT_EQ(copied, -12);
    EXPECT_EQ(to.value(keyval), reinterpret_cast<intptr_t>(&target));
    EXPECT_EQ(to.list().at(0).tag, ATTRCACHE_AS_POINTER);
    EXPECT_EQ(to.free(), ATTRCACHE_OK);
    recorder.on_copy = [](const Call& call, void** out, int* flag) {
      return copy_as(call.value, out, flag);
    };
    EXPECT_EQ(from.copy_to(to), ATTRCACHE_OK) << "a DUP_FN of the program's own";
    EXPECT_EQ(to.aint(keyval), -12);
    EXPECT_EQ(to.list().at(0).tag, tag);
    recorder.on_delete = [&](const Call& call) {
      deleted = read(call);
      return 0;
    };
    EXPECT_EQ(from.erase(keyval), ATTRCACHE_OK);
    EXPECT_EQ(deleted, -12);
    recorder.on_delete = nullptr;
    EXPECT_EQ(to.erase(keyval), ATTRCACHE_OK);
  }
}

// ---- Int handles --------------------------------------------------------------------------------

int seen_handle;
int copy_int_handle(int object, int, void*, void* in, void* out, int* flag) {
  seen_handle = object;
  *static_cast<void**>(out) = in;
  *flag = 1;
  return 0;
}
int delete_int_handle(int object, int, void*, void*) {
  seen_handle = ~object;
  return 0;
}

TEST(IntHandleTest, CCallbacksGetAnInt) {
  static constexpr attrcache_kind_options kInts = {
      .handle = ATTRCACHE_HANDLE_INT, .name = "comm", .fortran_handle = nullptr};
  const auto options = with(&attrcache_domain_options::communicator, &kInts);
  Universe universe(&options);
  attrcache_kind* kind = universe.kind();
  const int keyval = make_keyval(kind, callback(copy_int_handle), callback(delete_int_handle));
  attrcache_table a = ATTRCACHE_TABLE_INIT, b = ATTRCACHE_TABLE_INIT;
  constexpr int kHandle = static_cast<int>(0x84000007);  // as MPICH's, negative
  auto* const handle = reinterpret_cast<void*>(intptr_t{kHandle});
  EXPECT_EQ(attrcache_set_as(kind, &a, handle, keyval, 1, ATTRCACHE_AS_POINTER, nullptr), 0);
  EXPECT_EQ(attrcache_copy_all(kind, &a, handle, &b, nullptr, nullptr), 0);
  EXPECT_EQ(seen_handle, kHandle);
  EXPECT_EQ(attrcache_delete_all(kind, &a, handle, ATTRCACHE_DRAIN, nullptr), 0);
  EXPECT_EQ(seen_handle, ~kHandle);
  EXPECT_EQ(attrcache_delete_all(kind, &b, handle, ATTRCACHE_DRAIN, nullptr), 0);
}

}  // namespace
}  // namespace attrcache::support
