// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <climits>
#include <set>
#include <utility>

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// Predefined keyvals with numbers of the runtime's choice: attrcache_keyval_define.

constexpr int kTagUb = 0x64400001;  // MPICH's
// Wider than an int, if addresses are.
constexpr intptr_t kWide = -(intptr_t{5} << (sizeof(intptr_t) == 8 ? 32 : 20));

// An object that knows where its own values are.
struct Window {
  explicit Window(attrcache_kind* of) : object(of) {}
  Object object;
  int unit = -8;
  intptr_t size = kWide;
  void* base = &unit;
  bool has_any = true;

  static const Window& of(const attrcache_table* table) {
    const auto* bytes = reinterpret_cast<const char*>(table);
    return *reinterpret_cast<const Window*>(bytes - offsetof(Window, object.table));
  }
  static const void* find_unit(const attrcache_table* table, void*) {
    return of(table).has_any ? &of(table).unit : nullptr;
  }
  static const void* find_size(const attrcache_table* table, void*) { return &of(table).size; }
  static const void* find_base(const attrcache_table* table, void*) { return &of(table).base; }
  static const void* find_context(const attrcache_table*, void* context) { return context; }
};

// A value as each language reads it.
struct Read {
  int result;
  void* c = nullptr;
  int fint = 0;
  intptr_t aint = 0;
};

class DefineTest : public ::testing::Test {
 protected:
  int define_computed(int number, attrcache_tag tag, attrcache_compute_fn* compute,
                      void* context = nullptr) {
    return define(kind, number, tag, ATTRCACHE_COMPUTED, 0, compute, context);
  }
  Read read(const Object& from, int number) {
    Read r;
    r.result = from.get(number, &r.c);
    EXPECT_EQ(attrcache_get_fint(kind, &from.table, number, &r.fint), r.result);
    EXPECT_EQ(attrcache_get_aint(kind, &from.table, number, &r.aint), r.result);
    return r;
  }
  int result_of(int number) { return read(object, number).result; }
  // Reads by borrow, too, and expects the same.
  Read read_both(Object& from, int number) {
    const Read r = read(from, number);
    attrcache_borrowed borrowed = {};
    EXPECT_EQ(attrcache_borrow(kind, &from.table, number, &borrowed), r.result);
    if (r.result == ATTRCACHE_OK) {
      EXPECT_EQ(borrowed.value, r.c);
      EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
    }
    return r;
  }

  Universe universe;
  attrcache_kind* kind = universe.kind();
  Object object{kind};
};

TEST_F(DefineTest, APerKindValueIsTheSameOnEveryObject) {
  ASSERT_EQ(define(kind, kTagUb, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND, -5), ATTRCACHE_OK);
  Object other(kind);
  const Read here = read_both(object, kTagUb);
  const Read there = read_both(other, kTagUb);
  EXPECT_EQ(here.result, ATTRCACHE_OK);
  EXPECT_EQ(*static_cast<int*>(here.c), -5);
  EXPECT_EQ(here.fint, -5);
  EXPECT_EQ(here.aint, -5);
  EXPECT_EQ(here.c, there.c);
  EXPECT_TRUE(object.all_zero());
  EXPECT_EQ(attrcache_set_predefined(kind, kTagUb, 6), ATTRCACHE_OK);
  EXPECT_EQ(*static_cast<int*>(here.c), 6) << "the earlier get's address holds the new value";
  EXPECT_EQ(read(other, kTagUb).fint, 6);
}

TEST_F(DefineTest, PointersAndAints) {
  ASSERT_EQ(define(kind, 1, ATTRCACHE_AS_POINTER, ATTRCACHE_PER_KIND, kWide), ATTRCACHE_OK);
  ASSERT_EQ(define(kind, 2, ATTRCACHE_AS_AINT, ATTRCACHE_PER_KIND, kWide), ATTRCACHE_OK);
  EXPECT_EQ(reinterpret_cast<intptr_t>(read_both(object, 1).c), kWide);
  EXPECT_EQ(read(object, 1).aint, kWide);
  EXPECT_EQ(*static_cast<intptr_t*>(read_both(object, 2).c), kWide);
  EXPECT_EQ(read(object, 2).aint, kWide);
  EXPECT_EQ(read(object, 2).fint, static_cast<int>(kWide)) << "the low bits";
}

TEST_F(DefineTest, AComputedValueIsWhereTheRuntimeSays) {
  ASSERT_EQ(define_computed(501, ATTRCACHE_AS_INT, Window::find_unit), ATTRCACHE_OK);
  ASSERT_EQ(define_computed(502, ATTRCACHE_AS_AINT, Window::find_size), ATTRCACHE_OK);
  ASSERT_EQ(define_computed(503, ATTRCACHE_AS_POINTER, Window::find_base), ATTRCACHE_OK);
  int in_context = 77;
  ASSERT_EQ(define_computed(504, ATTRCACHE_AS_INT, Window::find_context, &in_context),
            ATTRCACHE_OK);
  Window window(kind);
  Read r = read_both(window.object, 501);
  EXPECT_EQ(r.c, &window.unit);
  EXPECT_EQ(r.fint, -8);
  EXPECT_EQ(r.aint, -8) << "sign-extended from an int: the bytes beside it aren't read";
  r = read_both(window.object, 502);
  EXPECT_EQ(r.c, &window.size);
  EXPECT_EQ(r.aint, kWide);
  r = read_both(window.object, 503);
  EXPECT_EQ(r.c, window.base);
  EXPECT_EQ(r.aint, reinterpret_cast<intptr_t>(window.base));
  EXPECT_EQ(read_both(window.object, 504).c, &in_context);
  window.has_any = false;
  EXPECT_EQ(read_both(window.object, 501).result, ATTRCACHE_ABSENT);
  EXPECT_TRUE(window.object.all_zero());
}

TEST_F(DefineTest, UsersCanNeitherSetDeleteNorFreeIt) {
  ASSERT_EQ(define(kind, 2, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND, 4), ATTRCACHE_OK);
  ASSERT_EQ(define_computed(3, ATTRCACHE_AS_INT, Window::find_unit), ATTRCACHE_OK);
  for (const int number : {2, 3}) {
    int variable = number;
    const attrcache_callbacks none = {};
    for (const attrcache_tag tag : {ATTRCACHE_AS_POINTER, ATTRCACHE_AS_INT}) {
      EXPECT_EQ(object.set_as(number, 9, tag), ATTRCACHE_ERR_KEYVAL_PREDEFINED);
      EXPECT_EQ(object.set_if_absent(number, 9, nullptr, tag), ATTRCACHE_ERR_KEYVAL_PREDEFINED);
    }
    EXPECT_EQ(object.erase(number), ATTRCACHE_ERR_KEYVAL_PREDEFINED);
    EXPECT_EQ(attrcache_keyval_free(kind, &variable), ATTRCACHE_ERR_KEYVAL_PREDEFINED);
    EXPECT_EQ(attrcache_keyval_set_callbacks(kind, number, &none), ATTRCACHE_ERR_KEYVAL_PREDEFINED);
    EXPECT_EQ(variable, number);
  }
  EXPECT_EQ(read(object, 2).fint, 4);
}

TEST_F(DefineTest, BadDefinitions) {
  const int in_range = ATTRCACHE_KEYVAL_MIN + 16;
  EXPECT_EQ(define(kind, in_range, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(define(kind, ATTRCACHE_KEYVAL_INVALID, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND),
            ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(define(kind, 1, ATTRCACHE_AS_FINT, ATTRCACHE_PER_KIND), ATTRCACHE_ERR_ARGUMENT);
  for (const int bad : {-1, 2}) {
    EXPECT_EQ(define(kind, 1, ATTRCACHE_AS_INT, static_cast<attrcache_where>(bad)),
              ATTRCACHE_ERR_ARGUMENT);
  }
  EXPECT_EQ(define(kind, 1, ATTRCACHE_AS_INT, ATTRCACHE_COMPUTED), ATTRCACHE_ERR_ARGUMENT)
      << "no function";
  EXPECT_EQ(define(kind, 1, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND, 0, Window::find_unit),
            ATTRCACHE_ERR_ARGUMENT)
      << "the function would never be called";
  EXPECT_EQ(define(nullptr, 1), ATTRCACHE_ERR_NULL);
  EXPECT_EQ(attrcache_keyval_define(kind, nullptr), ATTRCACHE_ERR_NULL);
  EXPECT_EQ(result_of(1), ATTRCACHE_ERR_KEYVAL_UNKNOWN) << "nothing was defined";
}

TEST_F(DefineTest, WhatSetRefuses) {
  ASSERT_EQ(define_computed(3, ATTRCACHE_AS_INT, Window::find_unit), ATTRCACHE_OK);
  const int user = Recorder::make(kind, {});
  EXPECT_EQ(attrcache_set_predefined(kind, 3, 4), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(attrcache_set_predefined(kind, 4, 4), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(attrcache_set_predefined(kind, user, 4), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_TRUE(object.all_zero());
}

TEST_F(DefineTest, ErrorsTellAnotherKindFromNothing) {
  ASSERT_EQ(define(kind, 7, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND), ATTRCACHE_OK);
  attrcache_kind* const windows = universe.kind(ATTRCACHE_WINDOW);
  Object window(windows);
  void* value;
  EXPECT_EQ(window.get(7, &value), ATTRCACHE_ERR_KEYVAL_KIND);
  EXPECT_EQ(window.get(8, &value), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(window.set(7, 1), ATTRCACHE_ERR_KEYVAL_KIND);
  EXPECT_EQ(attrcache_get(nullptr, &object.table, 7, &value), ATTRCACHE_ERR_NULL)
      << "without a kind, get can't tell";
  // The same number may be defined in several kinds.
  EXPECT_EQ(define(windows, 7, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND, 70), ATTRCACHE_OK);
  EXPECT_EQ(window.get(7, &value), ATTRCACHE_OK);
  EXPECT_EQ(*static_cast<int*>(value), 70);
}

// Any int may be a predefined keyval, in any order, up to the header's limit.
TEST_F(DefineTest, AsManyNumbersAsTheHeaderSays) {
  std::vector<int> numbers = {INT_MIN, INT_MAX, -1, 1, 2, 3, 501, kTagUb, 0x60000000};
  while (numbers.size() < 48) numbers.push_back(numbers.back() + 4);
  for (const int number : numbers) {
    ASSERT_EQ(define(kind, number, ATTRCACHE_AS_AINT, ATTRCACHE_PER_KIND, 3 * intptr_t{number}),
              ATTRCACHE_OK);
  }
  EXPECT_EQ(define(kind, 4, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND), ATTRCACHE_ERR_KEYVALS_EXHAUSTED);
  EXPECT_EQ(define(kind, -1, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND), ATTRCACHE_ERR_EXISTS)
      << "it is defined already";
  for (const int number : numbers) EXPECT_EQ(read(object, number).aint, 3 * intptr_t{number});
  EXPECT_EQ(result_of(4), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(universe.counters().keyvals_created, 0u);
}

TEST_F(DefineTest, IntrospectionListsThemUnderTheirNumbers) {
  ASSERT_EQ(define(kind, 6, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND), ATTRCACHE_OK);
  ASSERT_EQ(define_computed(7, ATTRCACHE_AS_INT, Window::find_unit), ATTRCACHE_OK);
  const int user = Recorder::make(kind, {});

  attrcache_keyval_info infos[8];
  size_t count = 0;
  EXPECT_EQ(attrcache_keyval_list(kind, infos, 8, &count), ATTRCACHE_OK);
  ASSERT_EQ(count, 3u);
  EXPECT_EQ(infos[0].keyval, user);
  EXPECT_FALSE(infos[0].predefined);
  std::set<int> numbers;
  for (size_t i = 1; i < count; ++i) {
    numbers.insert(infos[i].keyval);
    EXPECT_TRUE(infos[i].predefined);
    EXPECT_FALSE(infos[i].freed);
    EXPECT_EQ(infos[i].attributes, 0u);
    attrcache_keyval_info described = {};
    EXPECT_EQ(attrcache_keyval_describe(kind, infos[i].keyval, &described, nullptr), ATTRCACHE_OK);
    EXPECT_EQ(described.keyval, infos[i].keyval);
    EXPECT_TRUE(described.predefined);
  }
  EXPECT_EQ(numbers, (std::set<int>{6, 7}));
  EXPECT_TRUE(object.list().empty());
  EXPECT_EQ(universe.counters().keyvals_created, 1u);
}

TEST_F(DefineTest, ABorrowNeedsAGiveBack) {
  ASSERT_EQ(define(kind, 6, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND, 8), ATTRCACHE_OK);
  attrcache_borrowed borrowed = {};
  ASSERT_EQ(attrcache_borrow(kind, &object.table, 6, &borrowed), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_borrow(kind, &object.table, 6, &borrowed), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(attrcache_set_predefined(kind, 6, 9), ATTRCACHE_OK) << "it changes while borrowed";
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_ERR_ARGUMENT);
}

}  // namespace
}  // namespace attrcache::support
