// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Callbacks that call the library, in all combinations: each callback, run by each operation that
// runs it, calls each operation, on the same or another object and keyval, in the same or another
// thread. Each combination has a defined result, which expected() returns. In the end every value
// must have been deleted exactly once.

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

enum class In {
  kCopy,       // copy_fn
  kDelete,     // delete_fn, run by delete
  kReplace,    // by set
  kFree,       // by delete_all
  kRollback,   // by copy_all, when a later copy_fn has failed
  kEnd,        // the destructor, run by keyval_free
  kLastDelete  // by delete, of the last attribute under a freed keyval
};
enum class Op {
  kSet,
  kGet,
  kDelete,
  kCopyAll,
  kCopyInto,
  kDeleteAll,
  kDrain,
  kCreate,
  kFree,
  kBorrow,
  kPredefined,
  kRegister,
  kList,
  kDescribe
};
enum class Which { kSame, kOther };

struct Case {
  In in;
  Op op;
  Which object, keyval, thread;

  friend std::ostream& operator<<(std::ostream& out, const Case&) { return out << "as named"; }
  bool same_object() const { return object == Which::kSame; }
  bool same_attribute() const { return same_object() && keyval == Which::kSame; }
  bool same_thread() const { return thread == Which::kSame; }
  bool ends_keyval() const { return in == In::kEnd || in == In::kLastDelete; }
  bool deletes() const { return in != In::kCopy && !ends_keyval(); }
  bool frees() const { return op == Op::kDeleteAll || op == Op::kDrain; }
};

// Combinations that the contract forbids: another thread would use an object that is being freed or
// made, or would free one that is in use.
bool forbidden(const Case& c) {
  if (c.same_thread() || !c.same_object()) return false;
  return c.in == In::kFree || c.in == In::kRollback || (c.in == In::kCopy && c.frees());
}

// The result of the operation that the callback calls.
int expected(const Case& c) {
  switch (c.op) {
    case Op::kSet:
    case Op::kGet:
    case Op::kDelete:
    case Op::kFree:
    case Op::kDescribe:
    case Op::kBorrow:
      if (c.ends_keyval() && c.keyval == Which::kSame) return ATTRCACHE_ERR_KEYVAL_STALE;
      if (c.op != Op::kBorrow || !c.deletes() || !c.same_attribute()) return ATTRCACHE_OK;
      return c.in != In::kReplace ? ATTRCACHE_ABSENT : ATTRCACHE_OK;  // its deletion has begun
    case Op::kDeleteAll:
    case Op::kDrain:
      // Another thread is deleting one of the object's attributes.
      return c.deletes() && c.same_object() && !c.same_thread() ? ATTRCACHE_ERR_BUSY : ATTRCACHE_OK;
    default:
      return ATTRCACHE_OK;
  }
}

// The result of the operation that runs the callback.
int expected_outside(const Case& c) {
  const bool object_freed = c.frees() && c.same_object() && c.same_thread();
  switch (c.in) {
    case In::kCopy:
      return object_freed ? ATTRCACHE_ERR_FREED : ATTRCACHE_OK;
    case In::kRollback:
      return ATTRCACHE_ERR_CALLBACK;
    default:
      return ATTRCACHE_OK;
  }
}

class ReentranceMatrix : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    for (Recorder* recorder : {&same, &other}) {
      recorder->on_copy = [this, recorder](const Call& call, void** out, int* flag) {
        *out = reinterpret_cast<void*>(take(++last_value));
        *flag = 1;
        if (recorder == &same && c.in == In::kCopy) inside(call.object);
        return 0;
      };
    }
    same.on_delete = [this](const Call& call) {
      if (c.deletes()) inside(call.object);
      return 0;
    };
    same.on_destroy = [this] {
      if (c.ends_keyval()) inside(&a);
    };
    refusing.copy_code = 3;
  }

  // Records a value that the library has taken.
  intptr_t take(intptr_t value) {
    handed_in.push_back(value);
    return value;
  }

  // Calls the operation once: when the outer operation first runs the callback, for `object`.
  void inside(void* object) {
    if (!armed) return;
    armed = false;
    served = static_cast<Object*>(object);
    if (c.same_thread()) {
      result = operate();
      return;
    }
    std::thread([this] { result = operate(); }).join();
  }

  int operate() {
    Object& object = c.same_object() ? *served : b;
    const int keyval = c.keyval == Which::kSame ? k : l;
    void* value;
    size_t count;
    attrcache_keyval_info info;
    attrcache_borrowed borrowed = {};
    switch (c.op) {
      case Op::kSet:
        return set(object, keyval);
      case Op::kGet:
        return object.get(keyval, &value);
      case Op::kDelete:
        return object.erase(keyval);
      case Op::kCopyAll:
        return object.copy_to(spare);
      case Op::kCopyInto:
        return source.copy_to(object);
      case Op::kDeleteAll:
        return object.free();
      case Op::kDrain:
        return object.free(ATTRCACHE_DRAIN);
      case Op::kCreate:
        return third.keyval(kind) != ATTRCACHE_KEYVAL_INVALID ? ATTRCACHE_OK : -1;
      case Op::kFree:
        return free_keyval(kind, keyval);
      case Op::kBorrow: {
        const int got = attrcache_borrow(kind, &object.table, keyval, &borrowed);
        return got == ATTRCACHE_OK ? attrcache_give_back(&borrowed) : got;
      }
      case Op::kPredefined: {
        const int defined = define(kind, 5);  // succeeds the first time
        return attrcache_set_predefined(kind, 5, 9) +
               (defined == ATTRCACHE_ERR_ARGUMENT ? ATTRCACHE_OK : defined);
      }
      case Op::kRegister: {
        attrcache_kind* registered;
        return attrcache_kind_register(universe.domain(), nullptr, &registered);
      }
      case Op::kList:
        return attrcache_attribute_list(kind, &object.table, nullptr, 0, &count) +
               attrcache_keyval_list(kind, nullptr, 0, &count);
      default:
        return attrcache_keyval_describe(kind, keyval, &info, nullptr);
    }
  }

  int set(Object& object, int keyval) {
    const intptr_t value = ++last_value;
    const int got = object.set(keyval, value);
    if (got == ATTRCACHE_OK) take(value);
    return got;
  }

  int outside() {
    switch (c.in) {
      case In::kCopy:
        return a.copy_to(copy);
      case In::kDelete:
        return a.erase(k);
      case In::kReplace:
        return set(a, k);
      case In::kFree:
        return a.free();
      case In::kRollback:
        EXPECT_EQ(a.set(refusing.keyval(kind), 0), ATTRCACHE_OK);
        return a.copy_to(copy);
      case In::kEnd:
        for (Object* object : {&a, &b, &source}) object->erase(k);
        armed = true;
        return free_keyval(kind, k);
      default:
        for (Object* object : {&b, &source}) object->erase(k);
        EXPECT_EQ(free_keyval(kind, k), ATTRCACHE_OK);
        armed = true;
        return a.erase(k);
    }
  }

  const Case c = GetParam();
  Recorder same, other, third, refusing;
  std::atomic<bool> armed{false};
  std::atomic<int> result{-1};
  std::atomic<intptr_t> last_value{0};
  std::vector<intptr_t> handed_in;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  int k = same.keyval(kind);
  int l = other.keyval(kind);
  Object a{kind}, b{kind}, copy{kind}, spare{kind}, source{kind};
  Object* served = nullptr;
};

TEST_P(ReentranceMatrix, HasADefinedOutcome) {
  for (Object* object : {&a, &b, &source}) {
    for (const int keyval : {l, k}) ASSERT_EQ(set(*object, keyval), ATTRCACHE_OK);
  }
  armed = !c.ends_keyval();
  EXPECT_EQ(outside(), expected_outside(c));
  EXPECT_FALSE(armed) << "the callback ran";
  EXPECT_EQ(result, expected(c)) << attrcache_strerror(result);

  // The final state that some serial order of the operations gives.
  if (c.in == In::kDelete && c.same_attribute()) {
    EXPECT_EQ(a.value(k),
              c.op == Op::kSet || c.op == Op::kCopyInto ? last_value.load() : Object::kAbsent);
  }
  if (c.in == In::kReplace && !(c.same_object() && c.frees())) {
    const bool deleted = c.op == Op::kDelete && c.same_attribute();
    EXPECT_EQ(a.value(k) == Object::kAbsent, deleted);
  }
  if (c.in == In::kFree || c.in == In::kRollback) {
    EXPECT_TRUE((c.in == In::kFree ? a : copy).all_zero()) << "nothing was left there";
  }

  for (Object* object : {&a, &b, &copy, &spare, &source}) EXPECT_EQ(object->free(), ATTRCACHE_OK);
  std::vector<intptr_t> deleted = same.deleted();
  for (const intptr_t value : other.deleted()) deleted.push_back(value);
  std::sort(deleted.begin(), deleted.end());
  std::sort(handed_in.begin(), handed_in.end());
  EXPECT_EQ(deleted, handed_in) << "each exactly once";
  EXPECT_EQ(universe.counters().attributes, 0u);
  (void)free_keyval(kind, k);
  (void)free_keyval(kind, l);
  EXPECT_EQ(same.destructions, 1);
  EXPECT_EQ(other.destructions, 1);
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  static constexpr const char* kIn[] = {"Copy",     "Delete", "Replace",   "Free",
                                        "Rollback", "End",    "LastDelete"};
  static constexpr const char* kOp[] = {"Set",        "Get",      "Delete", "CopyAll", "CopyInto",
                                        "DeleteAll",  "Drain",    "Create", "Free",    "Borrow",
                                        "Predefined", "Register", "List",   "Describe"};
  const auto [in, op, object, keyval, thread] = info.param;
  const auto which = [](Which w) { return std::string(w == Which::kSame ? "Same" : "Other"); };
  return std::string("In") + kIn[static_cast<int>(in)] + kOp[static_cast<int>(op)] + which(object) +
         "Object" + which(keyval) + "Keyval" + which(thread) + "Thread";
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (int in = 0; in <= static_cast<int>(In::kLastDelete); ++in) {
    for (int op = 0; op <= static_cast<int>(Op::kDescribe); ++op) {
      for (int which = 0; which < 8; ++which) {
        const Case c = {static_cast<In>(in), static_cast<Op>(op), static_cast<Which>(which & 1),
                        static_cast<Which>(which >> 1 & 1), static_cast<Which>(which >> 2)};
        if (!forbidden(c)) cases.push_back(c);
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, ReentranceMatrix, ::testing::ValuesIn(all_cases()), name_of);

}  // namespace
}  // namespace attrcache::support
