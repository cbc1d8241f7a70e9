// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What lib/include/README.md says about signals: attrcache_get and its kin may be called in a
// signal handler, wherever it interrupts the library. On x86-64 the processor's trap flag calls a
// handler after every instruction of each operation.

#include <signal.h>

#include <string>

#include "tests/support/recorder.h"
#include "tests/support/threads.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__x86_64__) && !defined(ATTRCACHE_TESTS_UNDER_TSAN) && \
    !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
#define SINGLE_STEPS 1  // a sanitizer's own code can't be single-stepped
#endif

#ifdef SINGLE_STEPS
#include <x86intrin.h>

namespace attrcache::support {
namespace {

// What the handler saw: the results of get in their order, without repetitions.
struct Seen {
  const attrcache_kind* kind;
  const attrcache_table* table;
  int keyval;
  long instructions;
  int count;
  struct {
    int result;
    void* value;
  } steps[8];
};
Seen seen;

void after_each_instruction(int) {
  ++seen.instructions;
  void* value = nullptr;
  const int result = attrcache_get(seen.kind, seen.table, seen.keyval, &value);
  int fint = 0;
  intptr_t aint = 0;
  if (attrcache_get_fint(seen.kind, seen.table, seen.keyval, &fint) != result ||
      attrcache_get_aint(seen.kind, seen.table, seen.keyval, &aint) != result ||
      aint != reinterpret_cast<intptr_t>(value) || fint != static_cast<int>(aint)) {
    seen.count = 1000;
  }
  if (seen.count > 0 && seen.count <= 8) {
    const auto& last = seen.steps[seen.count - 1];
    if (last.result == result && last.value == value) return;
  }
  if (seen.count < 8) seen.steps[seen.count] = {result, value};
  ++seen.count;
}

// Set, it causes a SIGTRAP after each instruction until it is cleared.
constexpr long kTrapFlag = 0x100;

class SignalSteps : public ApiTest {
 protected:
  void SetUp() override {
    struct sigaction action = {};
    action.sa_handler = after_each_instruction;
    ASSERT_EQ(sigaction(SIGTRAP, &action, &before_), 0);
  }
  void TearDown() override { sigaction(SIGTRAP, &before_, nullptr); }

  // Runs the operation step by step while the handler reads that attribute. What the handler saw
  // must be `expected`: one letter for each result, in their order.
  template <typename Operation>
  void step(const Object& object, int keyval, const std::string& expected, Operation operation) {
    seen = {kind, &object.table, keyval, 0, 0, {}};
    __writeeflags(__readeflags() | kTrapFlag);
    const int result = operation();
    __writeeflags(__readeflags() & ~kTrapFlag);
    EXPECT_EQ(result, ATTRCACHE_OK);
    EXPECT_GT(seen.instructions, 20);
    instructions += seen.instructions;
    std::string letters;
    for (int i = 0; i < seen.count && i < 8; ++i) {
      const auto [code, value] = seen.steps[i];
      letters += code == ATTRCACHE_OK                   ? static_cast<char>('0' + (intptr_t)value)
                 : code == ATTRCACHE_ABSENT             ? '-'
                 : code == ATTRCACHE_ERR_KEYVAL_UNKNOWN ? '?'
                 : code == ATTRCACHE_ERR_KEYVAL_STALE   ? 'x'
                                                        : '!';
    }
    EXPECT_EQ(letters, expected) << seen.count << " changes";
  }

  Object other{kind};
  long instructions = 0;

 private:
  struct sigaction before_ = {};
};

TEST_F(SignalSteps, GetInAHandlerSeesEachOperationHappenAtOnce) {
  const std::vector<int> keyvals = ApiTest::keyvals(3000);
  // The slots are in the table itself, and in trees that grow.
  for (const int i : {0, 2, 3, 9, 70, 2500}) {
    SCOPED_TRACE(i);
    const int keyval = keyvals[i];
    step(object, keyval, "-1", [&] { return object.set(keyval, 1); });
    step(object, keyval, "12", [&] { return object.set(keyval, 2); });
    step(object, keyval, "2", [&] { return object.copy_to(other); });
    step(object, keyval, "2", [&] { return object.set(keyvals[i + 1], 3); });
    step(object, keyval, "2", [&] { return object.erase(keyvals[i + 1]); });
    step(object, keyval, "2", [&] { return other.free(); });
    step(object, keyval, "2", [&] {
      attrcache_borrowed borrowed = {};
      const int result = attrcache_borrow(kind, &object.table, keyval, &borrowed);
      return result != ATTRCACHE_OK ? result : attrcache_give_back(&borrowed);
    });
    step(object, keyval, "2-", [&] { return object.erase(keyval); });
    step(object, keyval, "-", [&] { return object.erase(keyval); });
    step(object, keyval, "-3", [&] { return object.set(keyval, 3); });
  }
  EXPECT_GT(instructions, 10000);
}

TEST_F(SignalSteps, GetInAHandlerSeesKeyvalsComeAndGoAtOnce) {
  const int first = recorder.keyval(kind);
  for (int i = 1; i < 300; ++i) {  // so that the registry grows
    SCOPED_TRACE(i);
    const int next = first + 16 * i;
    int made = 0;
    step(object, next, "?-", [&] {
      const attrcache_callbacks callbacks = {};
      return attrcache_keyval_create(kind, &callbacks, &made);
    });
    ASSERT_EQ(made, next);
  }
  int keyval = first;
  step(object, first, "-x", [&] { return attrcache_keyval_free(kind, &keyval); });
  const int served = first + 16;
  object.set(served, 4);
  keyval = served;
  step(object, served, "4", [&] { return attrcache_keyval_free(kind, &keyval); });
  // The handler sees the attribute go first, and then the keyval.
  step(object, served, "4-x", [&] { return object.erase(served); });
}

// The handler reads while delete_fn runs, and after it has failed.
TEST_F(SignalSteps, GetInAHandlerSeesTheValueWhileItsDeleteFnRuns) {
  const int keyval = recorder.keyval(kind);
  object.set(keyval, 5);
  recorder.delete_code = 1;
  step(object, keyval, "5",
       [&] { return object.erase(keyval) == ATTRCACHE_ERR_CALLBACK ? ATTRCACHE_OK : -1; });
  step(object, keyval, "565",
       [&] { return object.set(keyval, 6) == ATTRCACHE_ERR_CALLBACK ? ATTRCACHE_OK : -1; });
  recorder.delete_code = 0;
}

}  // namespace
}  // namespace attrcache::support

#endif  // SINGLE_STEPS
