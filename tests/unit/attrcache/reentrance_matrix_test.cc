// SPDX-License-Identifier: Apache-2.0
//
// Each callback x each operation from inside it x same or other object, keyval, thread: each has a
// defined outcome, which expected() tells, and afterwards every value has been deleted exactly
// once.

#include <algorithm>
#include <string>
#include <thread>
#include <tuple>

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

enum class In { kCopy, kDelete, kDestructor };
enum class Op {
  kSet,
  kGet,
  kDelete,
  kCopyAll,
  kDeleteAll,
  kCreate,
  kFree,
  kBorrow,
  kList,
  kDescribe
};
enum class Which { kSame, kOther };

struct Case {
  In in;
  Op op;
  Which object, keyval, thread;
};

// Whether it would wait for this very callback, which waits for it: the one thing a callback must
// not do.
bool waits_for_itself(const Case& c) {
  if (c.in != In::kCopy || c.thread == Which::kSame || c.object == Which::kOther) return false;
  return c.op == Op::kDeleteAll ||
         (c.keyval == Which::kSame && (c.op == Op::kSet || c.op == Op::kDelete));
}

// Of the operation inside the callback.
int expected(const Case& c) {
  const bool same_attribute = c.object == Which::kSame && c.keyval == Which::kSame;
  switch (c.op) {
    case Op::kSet:
    case Op::kGet:
    case Op::kDelete:
    case Op::kFree:
    case Op::kDescribe:
      return c.in == In::kDestructor && c.keyval == Which::kSame ? ATTRCACHE_ERR_KEYVAL_STALE
                                                                 : ATTRCACHE_OK;
    case Op::kBorrow:
      if (c.in == In::kDestructor && c.keyval == Which::kSame) return ATTRCACHE_ERR_KEYVAL_STALE;
      return c.in == In::kDelete && same_attribute ? ATTRCACHE_ABSENT : ATTRCACHE_OK;
    case Op::kDeleteAll:
      return c.in == In::kDelete && c.object == Which::kSame && c.thread == Which::kOther
                 ? ATTRCACHE_ERR_BUSY
                 : ATTRCACHE_OK;
    default:
      return ATTRCACHE_OK;
  }
}

// Of the operation that runs the callback.
int expected_outside(const Case& c) {
  return c.in == In::kCopy && c.op == Op::kDeleteAll && c.object == Which::kSame
             ? ATTRCACHE_ERR_BUSY
             : ATTRCACHE_OK;
}

using Parameters = std::tuple<In, Op, Which, Which, Which>;

class ReentranceMatrix : public ::testing::TestWithParam<Parameters> {
 protected:
  void SetUp() override {
    same.on_copy = [this](const Call&, void** out, int* flag) {
      *out = reinterpret_cast<void*>(++last_value);
      *flag = 1;
      if (c.in == In::kCopy) inside();
      return 0;
    };
    same.on_delete = [this](const Call&) {
      if (c.in == In::kDelete) inside();
      return 0;
    };
    same.on_destroy = [this] {
      if (c.in == In::kDestructor) inside();
    };
    other.on_copy = [this](const Call&, void** out, int* flag) {
      *out = reinterpret_cast<void*>(++last_value);
      *flag = 1;
      return 0;
    };
  }

  // The operation, once, when the callback is called for the first time by the operation outside.
  void inside() {
    if (!armed) return;
    armed = false;
    const auto run = [this] { result = operate(); };
    if (c.thread == Which::kSame) {
      run();
    } else {
      std::thread(run).join();
    }
  }

  int operate() {
    Object& object = c.object == Which::kSame ? a : b;
    const int keyval = c.keyval == Which::kSame ? k : l;
    void* value;
    size_t count;
    attrcache_keyval_info info;
    attrcache_borrowed borrowed;
    switch (c.op) {
      case Op::kSet: {
        const int set = object.set(keyval, last_value + 1);
        last_value += set == ATTRCACHE_OK;
        return set;
      }
      case Op::kGet:
        return object.get(keyval, &value);
      case Op::kDelete:
        return object.erase(keyval);
      case Op::kCopyAll:
        return object.copy_to(spare);
      case Op::kDeleteAll:
        return object.free();
      case Op::kCreate:
        return third.keyval(kind) != ATTRCACHE_KEYVAL_INVALID ? ATTRCACHE_OK : -1;
      case Op::kFree:
        return free_keyval(kind, keyval);
      case Op::kBorrow: {
        const int got = attrcache_borrow(kind, &object.table, keyval, &borrowed);
        return got == ATTRCACHE_OK ? attrcache_give_back(&borrowed) : got;
      }
      case Op::kList:
        return attrcache_attribute_list(kind, &object.table, nullptr, 0, &count) +
               attrcache_keyval_list(kind, nullptr, 0, &count);
      default:
        return attrcache_keyval_describe(kind, keyval, &info);
    }
  }

  int outside() {
    switch (c.in) {
      case In::kCopy:
        return a.copy_to(copy);
      case In::kDelete:
        return a.erase(k);
      default:
        a.erase(k);
        b.erase(k);
        armed = true;
        return free_keyval(kind, k);
    }
  }

  const Case c = {std::get<0>(GetParam()), std::get<1>(GetParam()), std::get<2>(GetParam()),
                  std::get<3>(GetParam()), std::get<4>(GetParam())};
  Recorder same, other, third;
  bool armed = false;
  int result = -1;
  intptr_t last_value = 4;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  int k = same.keyval(kind);
  int l = other.keyval(kind);
  Object a{kind}, b{kind}, copy{kind}, spare{kind};
};

TEST_P(ReentranceMatrix, HasADefinedOutcome) {
  if (waits_for_itself(c)) GTEST_SKIP() << "would wait for itself, as the contract says";
  a.set(k, 1);
  a.set(l, 2);
  b.set(k, 3);
  b.set(l, 4);
  armed = c.in != In::kDestructor;
  EXPECT_EQ(outside(), expected_outside(c));
  EXPECT_FALSE(armed) << "the callback ran";
  EXPECT_EQ(result, expected(c)) << attrcache_strerror(result);

  // What a serial order makes of it: the set and the deletion of one attribute.
  if (c.in == In::kDelete && c.object == Which::kSame && c.keyval == Which::kSame) {
    EXPECT_EQ(a.value(k), c.op == Op::kSet ? last_value : Object::kAbsent);
  }

  for (Object* object : {&a, &b, &copy, &spare}) EXPECT_EQ(object->free(), ATTRCACHE_OK);
  std::vector<intptr_t> deleted = same.deleted();
  for (const intptr_t value : other.deleted()) deleted.push_back(value);
  std::sort(deleted.begin(), deleted.end());
  ASSERT_EQ(deleted.size(), static_cast<size_t>(last_value));
  for (intptr_t value = 1; value <= last_value; ++value) {
    EXPECT_EQ(deleted[value - 1], value) << "each exactly once";
  }
  EXPECT_EQ(universe.counters().attributes, 0u);
  (void)free_keyval(kind, k);
  (void)free_keyval(kind, l);
  EXPECT_EQ(same.destructions, 1);
  EXPECT_EQ(other.destructions, 1);
}

std::string name_of(const ::testing::TestParamInfo<Parameters>& info) {
  static constexpr const char* kIn[] = {"Copy", "Delete", "Destructor"};
  static constexpr const char* kOp[] = {"Set",    "Get",  "Delete", "CopyAll", "DeleteAll",
                                        "Create", "Free", "Borrow", "List",    "Describe"};
  const auto [in, op, object, keyval, thread] = info.param;
  const auto which = [](Which w) { return std::string(w == Which::kSame ? "Same" : "Other"); };
  return std::string("In") + kIn[static_cast<int>(in)] + kOp[static_cast<int>(op)] + which(object) +
         "Object" + which(keyval) + "Keyval" + which(thread) + "Thread";
}

constexpr auto kBoth = [] { return ::testing::Values(Which::kSame, Which::kOther); };
INSTANTIATE_TEST_SUITE_P(
    All, ReentranceMatrix,
    ::testing::Combine(::testing::Values(In::kCopy, In::kDelete, In::kDestructor),
                       ::testing::Values(Op::kSet, Op::kGet, Op::kDelete, Op::kCopyAll,
                                         Op::kDeleteAll, Op::kCreate, Op::kFree, Op::kBorrow,
                                         Op::kList, Op::kDescribe),
                       kBoth(), kBoth(), kBoth()),
    name_of);

}  // namespace
}  // namespace attrcache::support
