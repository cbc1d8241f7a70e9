// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Callbacks that fail, and callbacks that call the library again, while other threads race.

#include "tests/model/race.h"

namespace attrcache::model {
namespace {

const auto attached_and_fails = in_turn(attached(), fails());

TEST(Callback, FailingDeleteAgainstDelete) { race({}, attached_and_fails, erase, erase); }
TEST(Callback, FailingDeleteAgainstSet) { race({}, attached_and_fails, set(2), erase); }
TEST(Callback, AlwaysFailingDeleteAgainstAll) {
  race({{2, 0}}, in_turn(attached(), fails(1, 3)), set(2), erase, in_turn(get, erase, get));
}
// A failed delete returns an error. The value stays attached unless another call takes it.
TEST(Callback, FailingDeleteKeepsTheValueVisible) {
  const auto finds_it = [](Fixture& f) {
    expect(f.get(0, 0) == 1, "the value is always attached");
  };
  race({}, attached_and_fails, erase, in_turn(finds_it, finds_it));
}

constexpr auto set_again = [](Fixture& f, int value) {
  if (value == 1) f.set(0, 0, 2);
};
TEST(Callback, DeleteThatSetsAgain) {
  race({}, in_turn(attached(), on_delete(set_again)), erase, erase);
}
TEST(Callback, ReplacingSetWhoseCallbackSets) {
  race({}, in_turn(attached(), on_delete(set_again)), set(3), erase);
}

constexpr auto erase_own = [](Fixture& f, int) { f.erase(0, 0); };
TEST(Callback, DeleteThatDeletesItself) {
  race({}, in_turn(attached(), on_delete(erase_own)), erase, in_turn(get, set(2)));
}
TEST(Callback, DeleteThatFreesItsKeyval) {
  const auto free_it = [](Fixture& f, int) { f.free(0); };
  race({}, in_turn(attached(), on_delete(free_it)), erase, set(2));
}

// Each delete_fn deletes the other's attribute, as in PETSc.
constexpr auto erase_other = [](Fixture& f) { f.erase(0, 1); };
TEST(Callback, DeletesOfEachOther) {
  const auto erase_second = [](Fixture& f, int) { f.erase(0, 1); };
  const auto two = in_turn(attached(), attach_second);
  race({}, in_turn(two, on_delete(erase_second), on_delete(erase_own, 1)), erase, erase_other);
}

// Destructor semantics: a value is gone, or a set was refused, though every delete_fn fails.
const auto once_and_fails = in_turn(attached(Fixture::kDeleteOnce), fails(1), fails(2), fails(3));
TEST(DeleteOnce, SetBesideDelete) { race({}, once_and_fails, set(2), erase); }
TEST(DeleteOnce, TwoSets) { race({}, once_and_fails, set(2), set(3)); }
TEST(DeleteOnce, TwoDeletesBesideAGet) { race({}, once_and_fails, erase, erase, get); }
TEST(DeleteOnce, BorrowBesideASet) { race({}, once_and_fails, set(2), use); }

}  // namespace
}  // namespace attrcache::model
