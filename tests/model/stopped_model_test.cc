// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A thread that stops for ever, at any step of a call. Whatever it leaves behind, every call of
// every other thread ends: on the same attribute, on its object, and on its keyval.

#include <string>
#include <tuple>

#include "tests/model/explorer/atomic.h"
#include "tests/model/race.h"

namespace attrcache::model {
namespace {

// Creates a keyval, uses it, and frees it before its attribute is deleted. No other thread frees
// this object: its table grows, and a free would release that memory.
void make_use_and_free(Fixture& f) {
  const attrcache_callbacks none = {};
  int keyval;
  expect(attrcache_keyval_create(f.kind(), &none, &keyval) == ATTRCACHE_OK, "a keyval is made");
  const int number = keyval;
  attrcache_table& table = f.table(3);
  expect(attrcache_set_as(f.kind(), &table, nullptr, number, 1, ATTRCACHE_AS_POINTER, nullptr) ==
             ATTRCACHE_OK,
         "it is used");
  expect(attrcache_keyval_free(f.kind(), &keyval) == ATTRCACHE_OK, "it is freed");
  expect(attrcache_delete(f.kind(), &table, nullptr, number, nullptr) == ATTRCACHE_OK,
         "its attribute is deleted");
}
void list(Fixture& f, int object) {
  size_t count;
  expect(attrcache_attribute_list(f.kind(), &f.table(object), nullptr, 0, &count) == ATTRCACHE_OK,
         "the attributes are listed");
}
void free_object(Fixture& f, int object) {
  const int result = f.erase_all(object);
  const bool fails = f.values[1].failures != 0 || f.values[1].failed != 0;
  expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY ||
             (fails && result == ATTRCACHE_ERR_CALLBACK),
         "freed, or not yet");
}

// What a thread does with an attribute of an object, and the value that it may attach.
enum Kind { kCalls, kFails, kFreesObject };  // kFails: delete_fn
struct Operation {
  const char* name;
  void (*run)(Fixture&, int object, int value);
  Kind kind = kCalls;
};
constexpr auto set_it = [](Fixture& f, int o, int value) { f.set(o, 0, value); };
constexpr auto delete_it = [](Fixture& f, int o, int) { f.erase(o, 0); };
constexpr Operation kOperations[] = {
    {"Get", [](Fixture& f, int o, int) { f.get(o, 0); }},
    {"Borrow", [](Fixture& f, int o, int) { f.use(o, 0); }},
    {"Set", set_it},
    {"FailingSet", set_it, kFails},
    {"Copy", [](Fixture& f, int o, int) { f.copy(o, 3); }},
    {"Delete", delete_it},
    {"FailingDelete", delete_it, kFails},
    {"List", [](Fixture& f, int o, int) { list(f, o); }},
    {"MakeUseAndFreeKeyval", [](Fixture& f, int, int) { make_use_and_free(f); }},
    {"FreeKeyval", [](Fixture& f, int, int) { f.free(0); }},
    {"Free", [](Fixture& f, int o, int) { free_object(f, o); }, kFreesObject},
};

constexpr Options kMayStop = {.preemptions = 1, .stale_reads = 0, .first_may_stop = true};

// The first operation may stop; the second one, and all that follow it, end.
enum State { kUnheld, kLight, kNoDeleteFn };
using Case = std::tuple<Operation, Operation, State>;
std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const auto& [first, second, state] = info.param;
  const char* const states[] = {"Unheld", "", "NoDeleteFn"};
  return std::string(first.name) + "Beside" + second.name + states[state];
}
const auto any = ::testing::ValuesIn(kOperations);
class Stopped : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Of, Stopped,
                         ::testing::Combine(any, any,
                                            ::testing::Values(kUnheld, kLight, kNoDeleteFn)),
                         name_of);

TEST_P(Stopped, InTheFirst) {
  const auto program = [p = GetParam()] {
    const Operation& first = std::get<0>(p);
    const Operation& second = std::get<1>(p);
    const State state = std::get<2>(p);
    Fixture f;
    f.make_key(state == kNoDeleteFn ? Fixture::kNone : Fixture::kCopy).no_copies = true;
    f.set(0, 0, 1);
    for (int uses = state == kLight ? 3 : 0; uses > 0; --uses) f.use(0, 0);
    f.values[1].failures = (first.kind == kFails) + (second.kind == kFails);
    // No call uses an object that is being freed, but what was borrowed before may be given back.
    const bool frees = first.kind == kFreesObject;
    const int object = frees ? 1 : 0;
    if (frees) f.set(object, 0, 8);
    Atomic<int> may_begin{!frees};
    spawn([&] {
      if (may_begin.load(kAcquire) != 0) first.run(f, 0, 2);
    });
    spawn([&] {
      attrcache_borrowed borrowed = {};
      const bool holds = frees && f.borrow(0, 0, &borrowed);
      may_begin.store(1, kRelease);
      const auto run = [&](const Operation& operation, int value) {
        // The other thread may use the object, unless it has stopped.
        const bool may = operation.kind != kFreesObject || frees || first_has_stopped();
        if (may) operation.run(f, object, value);
      };
      run(second, 3);
      if (holds) f.give_back(&borrowed);
      f.set(2, 0, 4);
      f.use(2, 0);
      for (const Operation& operation : kOperations) {
        if (operation.kind != kFails) run(operation, 5);
      }
      expect(f.erase_all(2) == ATTRCACHE_OK, "another object is freed");
    });
    join();
    f.finish();
  };
  run_model(kMayStop, program);
}

// Two other threads, which share a deletion that was left.
TEST(StoppedOfThree, SetOverWhatAnotherThreadBorrows) {
  const auto program = [] {
    Fixture f;
    was_held()(f);
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] { f.use(0, 0); });
    spawn([&f] { in_turn(use, erase)(f); });
    join();
    f.finish();
  };
  run_model(kMayStop, program);
}

}  // namespace
}  // namespace attrcache::model
