// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <set>

#include "attrcache/attrcache_inline.h"
#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// Domains whose keyvals are other ints than the usual ones: attrcache_keyval_numbers.

class NumbersTest : public ::testing::TestWithParam<attrcache_keyval_numbers> {
 protected:
  bool in_range(int keyval) const {
    return static_cast<uint32_t>(keyval) - numbers.base < 0x20000000u;
  }
  // By each function that reads as C does, the inlined one included, which may say to call another.
  int get(const Object& object, int keyval, void** value) {
    void* other = *value;
    void* at_once = *value;
    const int result = object.get(keyval, value);
    EXPECT_EQ(attrcache_get_with_base(kind, &object.table, numbers.base, keyval, &other), result);
    EXPECT_EQ(other, *value);
    const int inlined = attrcache_get_at_once(kind, &object.table, numbers.base, keyval, &at_once);
    if (inlined == ATTRCACHE_INLINE_ASK) {
      ++asked;
    } else {
      EXPECT_EQ(inlined, result);
      EXPECT_EQ(at_once, *value);
    }
    return result;
  }
  intptr_t value(const Object& object, int keyval) {
    void* value = nullptr;
    const int result = get(object, keyval, &value);
    if (result == ATTRCACHE_ABSENT) return Object::kAbsent;
    EXPECT_EQ(result, ATTRCACHE_OK);
    return reinterpret_cast<intptr_t>(value);
  }

  const attrcache_keyval_numbers numbers = GetParam();
  const attrcache_domain_options options = with(&attrcache_domain_options::numbers, &numbers);
  Recorder recorder;
  Universe universe{&options};
  attrcache_kind* kind = universe.kind();
  Object object{kind};
  int asked = 0;
};

TEST_P(NumbersTest, EverythingSpeaksTheDomainsNumbers) {
  const int keyval = recorder.keyval(kind);
  const int window_keyval = recorder.keyval(universe.kind(ATTRCACHE_WINDOW));
  EXPECT_TRUE(in_range(keyval));
  EXPECT_TRUE(in_range(window_keyval));
  EXPECT_NE(keyval, window_keyval);
  EXPECT_EQ(value(object, keyval), Object::kAbsent);
  EXPECT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
  EXPECT_EQ(value(object, keyval), 1);
  EXPECT_EQ(object.set(keyval, 2), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deletions.at(0).keyval, keyval) << "callbacks get it";
  EXPECT_EQ(object.aint(keyval), 2);
  EXPECT_EQ(object.fint(keyval), 2);
  attrcache_borrowed borrowed = {};
  ASSERT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  Object to(kind);
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
  EXPECT_EQ(recorder.copies.at(0).keyval, keyval);
  EXPECT_EQ(value(to, keyval), 2);
  EXPECT_EQ(to.list().at(0).keyval, keyval);
  attrcache_keyval_info info = {};
  EXPECT_EQ(attrcache_keyval_describe(kind, keyval, &info, nullptr), ATTRCACHE_OK);
  EXPECT_EQ(info.keyval, keyval);
  EXPECT_EQ(info.attributes, 2u);
  size_t count = 0;
  EXPECT_EQ(attrcache_keyval_list(kind, &info, 1, &count), ATTRCACHE_OK);
  EXPECT_EQ(info.keyval, keyval);
  int variable = keyval;
  EXPECT_EQ(attrcache_keyval_free(kind, &variable), ATTRCACHE_OK);
  EXPECT_EQ(variable, numbers.invalid);
  EXPECT_EQ(to.free(), ATTRCACHE_OK);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deletions.back().keyval, keyval);
  EXPECT_EQ(recorder.destructions, 1);
  void* ignored = nullptr;
  EXPECT_EQ(get(object, keyval, &ignored), ATTRCACHE_ERR_KEYVAL_STALE);
}

TEST_P(NumbersTest, FarKeyvalsToo) {
  std::vector<int> keyvals;
  for (int i = 0; i < 200; ++i) keyvals.push_back(Recorder::make(kind, {}));
  EXPECT_EQ(std::set<int>(keyvals.begin(), keyvals.end()).size(), keyvals.size());
  const attrcache_tag tags[] = {ATTRCACHE_AS_POINTER, ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT,
                                ATTRCACHE_AS_INT};
  for (size_t i = 0; i < keyvals.size(); ++i) {
    ASSERT_TRUE(in_range(keyvals[i]));
    ASSERT_EQ(value(object, keyvals[i]), Object::kAbsent);
    ASSERT_EQ(object.set_as(keyvals[i], keyvals[i], tags[i % 4]), ATTRCACHE_OK);
    intptr_t found = value(object, keyvals[i]);
    if (tags[i % 4] == ATTRCACHE_AS_AINT) {
      found = *reinterpret_cast<intptr_t*>(found);
    } else if (i % 4 != 0) {
      found = *reinterpret_cast<int*>(found);
    }
    ASSERT_EQ(found, keyvals[i]);
    ASSERT_EQ(value(Object(kind), keyvals[i]), Object::kAbsent);
#ifndef ATTRCACHE_INLINE_STEPS
    // A kind's first 64 keyvals need the call for errors only.
    ASSERT_EQ(asked == 0, i < 64);
#endif
  }
  for (const int keyval : keyvals) ASSERT_EQ(object.erase(keyval), ATTRCACHE_OK);
}

TEST_P(NumbersTest, ErrorsAreThoseOfTheDomainsNumbers) {
  const int keyval = recorder.keyval(kind);
  const int of_window = recorder.keyval(universe.kind(ATTRCACHE_WINDOW));
  void* ignored = nullptr;
  EXPECT_EQ(get(object, numbers.invalid, &ignored), ATTRCACHE_ERR_KEYVAL_INVALID);
  EXPECT_EQ(object.set(numbers.invalid, 1), ATTRCACHE_ERR_KEYVAL_INVALID);
  EXPECT_EQ(object.erase(numbers.invalid), ATTRCACHE_ERR_KEYVAL_INVALID);
  EXPECT_EQ(get(object, of_window, &ignored), ATTRCACHE_ERR_KEYVAL_KIND);
  EXPECT_EQ(object.set(of_window, 1), ATTRCACHE_ERR_KEYVAL_KIND);
  EXPECT_EQ(get(object, keyval + 16, &ignored), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(object.set(keyval + 16, 1), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  const uint32_t base = numbers.base;
  EXPECT_EQ(attrcache_get_at_once(nullptr, &object.table, base, keyval, &ignored),
            ATTRCACHE_INLINE_ASK);
  EXPECT_EQ(attrcache_get_at_once(kind, nullptr, base, keyval, &ignored), ATTRCACHE_INLINE_ASK);
  EXPECT_EQ(attrcache_get_at_once(kind, &object.table, base, keyval, nullptr),
            ATTRCACHE_INLINE_ASK);
}

// No domain takes another's keyval, whatever its numbers, for its own: an interposer may be above
// an MPI with this library inside, and pass a tool's keyvals on to it.
TEST_P(NumbersTest, KeyvalsOfTheUsualDomainAreUnknown) {
  Universe usual;
  // The first of each might be the other's invalid value.
  Recorder::make(usual.kind(), {});
  Recorder::make(kind, {});
  const int foreign = Recorder::make(usual.kind(), {});
  const int own = recorder.keyval(kind);
  Object usual_object(usual.kind());
  object.set(own, 7);
  usual_object.set(foreign, 8);
  void* ignored = nullptr;
  if (numbers.base == uint32_t{ATTRCACHE_KEYVAL_MIN}) return;
  EXPECT_EQ(get(object, foreign, &ignored), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(object.set(foreign, 1), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(object.erase(foreign), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(usual_object.get(own, &ignored), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  EXPECT_EQ(usual_object.set(own, 1), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
}

TEST_P(NumbersTest, PredefinedNumbersAroundTheRange) {
  const int outside[] = {static_cast<int>(numbers.base - 1),
                         static_cast<int>(numbers.base + 0x20000000u), 12};
  int defined = 0;
  for (const int number : outside) {
    if (number == numbers.invalid || in_range(number)) continue;
    EXPECT_EQ(define(kind, number, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND, ++defined), ATTRCACHE_OK);
    void* c = nullptr;
    EXPECT_EQ(get(object, number, &c), ATTRCACHE_OK);
    EXPECT_EQ(*static_cast<int*>(c), defined);
    EXPECT_EQ(object.fint(number), defined);
    EXPECT_EQ(object.set(number, 1), ATTRCACHE_ERR_KEYVAL_PREDEFINED);
  }
  EXPECT_GE(defined, 1);
  EXPECT_EQ(define(kind, static_cast<int>(numbers.base)), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(define(kind, numbers.invalid), ATTRCACHE_ERR_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(Ranges, NumbersTest,
                         ::testing::Values(attrcache_keyval_numbers{0x40000000, 0},
                                           attrcache_keyval_numbers{0x20000000, -1},  // Open MPI
                                           attrcache_keyval_numbers{0x80000000,
                                                                    0x24000000},  // MPICH
                                           attrcache_keyval_numbers{0, 0x7fffffff},
                                           attrcache_keyval_numbers{0xe0000000, 0},
                                           attrcache_keyval_numbers{0x60000000, 0x40000000}));

TEST(BadNumbersTest, AreRefused) {
  const attrcache_keyval_numbers bad[] = {
      {0x40000010, 0},            // no multiple
      {0x10000000, 0},            // nor this
      {0x40000000, 0x40000000},   // the invalid value would be a keyval
      {0, 0},                     // the same
      {0x80000000, -0x7fffffff},  // the same
  };
  for (const attrcache_keyval_numbers& numbers : bad) {
    const auto options = with(&attrcache_domain_options::numbers, &numbers);
    attrcache_domain* domain = nullptr;
    EXPECT_EQ(attrcache_domain_create(&options, &domain), ATTRCACHE_ERR_ARGUMENT);
    EXPECT_EQ(domain, nullptr);
  }
}

}  // namespace
}  // namespace attrcache::support
