// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Threads that stop for ever, at any step of a call. Whatever they leave behind, every call of every
// other thread ends: on the very same attribute, on its object, and on its keyval.

#include <string>
#include <tuple>

#include "tests/model/explorer/atomic.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// What a thread does with the attribute, by the value that it may attach.
struct Operation {
  const char* name;
  void (*run)(Fixture&, int value);
  bool fails;  // its delete_fn
};
constexpr Operation kOperations[] = {
    {"Set", [](Fixture& f, int value) { f.set(0, 0, value); }, false},
    {"FailingSet", [](Fixture& f, int value) { f.set(0, 0, value); }, true},
    {"Delete", [](Fixture& f, int) { f.erase(0, 0); }, false},
    {"FailingDelete", [](Fixture& f, int) { f.erase(0, 0); }, true},
    {"Borrow", [](Fixture& f, int) { f.use(0, 0); }, false},
    {"Copy", [](Fixture& f, int) { f.copy(0, 1); }, false},
    {"Get", [](Fixture& f, int) { f.get(0, 0); }, false},
    {"Free",
     [](Fixture& f, int) {
       if (!first_has_stopped()) return;  // nobody else may use what its owner frees
       const int result = f.erase_all(0);
       expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY, "freed, or not yet");
     },
     false},
};
constexpr int kFree = 7;

void everything(Fixture& f) {
  for (const int o : {6, 4, 0, 5, 2, 0, kFree}) kOperations[o].run(f, 4 + (f.depth++ > 4));
  f.set(1, 0, 7);
  f.use(1, 0);
  expect(f.erase_all(1) == ATTRCACHE_OK, "another object is freed");
}

// The first operation may stop; the second one, and all that follow it, end.
class Stopped : public ::testing::TestWithParam<std::tuple<int, int, bool>> {};

TEST_P(Stopped, InTheFirst) {
  const auto [first, second, read] = GetParam();
  const auto program = [first = first, second = second, read = read] {
    Fixture f;
    f.make_key(Fixture::kCopy).no_copies = true;
    f.set(0, 0, 1);
    if (read) f.use(0, 0);
    f.values[1].failures = kOperations[first].fails + kOperations[second].fails;
    spawn([&f, first] { kOperations[first].run(f, 2); });
    spawn([&f, second] {
      kOperations[second].run(f, 3);
      everything(f);
    });
    join();
    f.finish();
  };
  run_model({1, 0}, program, true);
}

std::string name_of(const ::testing::TestParamInfo<Stopped::ParamType>& info) {
  const auto [first, second, read] = info.param;
  return std::string(kOperations[first].name) + "Beside" + kOperations[second].name +
         (read ? "" : "Unread");
}
INSTANTIATE_TEST_SUITE_P(All, Stopped,
                         ::testing::Combine(::testing::Range(0, kFree),
                                            ::testing::Range(0, kFree + 1), ::testing::Bool()),
                         name_of);

// Two others, between which a deletion that was left goes on.
TEST(StoppedOfThree, WhoReplacesWhatAnotherThreadBorrows) {
  const auto program = [] {
    Fixture f;
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.use(0, 0);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.use(0, 0); });
    spawn([&f] {
      f.use(0, 0);
      f.erase(0, 0);
    });
    join();
    f.finish();
  };
  run_model({1, 0}, program, true);
}

// A free, of which a thread still holds a value.
TEST(StoppedFree, BesideAGiveBack) {
  const auto program = [] {
    Fixture f;
    static Atomic<int> held;
    held.store(0, kRelaxed);
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    f.use(0, 0);
    spawn([&f] {
      if (held.load(kAcquire) != 0) f.erase_all(0);
    });
    spawn([&f] {
      attrcache_borrowed borrowed = {};
      f.borrow(0, 0, &borrowed);
      held.store(1, kRelease);
      f.give_back(&borrowed);
      f.set(1, 0, 2);
      expect(f.erase_all(1) == ATTRCACHE_OK, "another object is freed");
    });
    join();
    f.finish();
  };
  run_model({2, 0}, program, true);
}

// Makes a keyval, uses it on an object, and frees it before its attribute is deleted, or after
// that.
void make_use_and_free(Fixture& f, int object, bool before) {
  const attrcache_callbacks none = {};
  int keyval;
  expect(attrcache_keyval_create(f.kind(), &none, &keyval) == ATTRCACHE_OK, "a keyval is made");
  const int number = keyval;
  attrcache_table& table = f.table(object);
  expect(attrcache_set(f.kind(), &table, nullptr, number, 1, ATTRCACHE_AS_POINTER, nullptr) ==
             ATTRCACHE_OK,
         "it is used");
  if (before) expect(attrcache_keyval_free(f.kind(), &keyval) == ATTRCACHE_OK, "it is freed");
  expect(attrcache_delete(f.kind(), &table, nullptr, number, nullptr) == ATTRCACHE_OK,
         "its attribute is deleted");
  if (!before)
    expect(attrcache_keyval_free(f.kind(), &keyval) == ATTRCACHE_OK, "it is freed at last");
}

TEST(StoppedKeyval, WhoMakesUsesAndFreesOne) {
  const auto program = [] {
    Fixture f;
    f.make_key(Fixture::kDelete);
    f.set(0, 0, 1);
    spawn([&f] { make_use_and_free(f, 0, true); });
    spawn([&f] {
      make_use_and_free(f, 1, false);
      everything(f);
    });
    join();
    f.finish();
  };
  run_model({1, 1}, program, true);
}

}  // namespace
}  // namespace attrcache::model
