// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// set_if_absent beside everything that changes the same attribute.

#include "tests/model/race.h"

namespace attrcache::model {
namespace {

constexpr auto kNone = Fixture::kNone;
constexpr Setting kOfThree = {.bound = {1, 1}};

TEST(SetIfAbsent, OfThree) {
  race(kOfThree, keyval(), set_if_absent(1), in_turn(set_if_absent(2), get), set_if_absent(3));
}
TEST(SetIfAbsent, WhereSomethingIsAttached) {
  race({}, attached(), in_turn(set_if_absent(2), get), set_if_absent(3));
}
TEST(SetIfAbsent, TheBodyOfWhatIsPresentIsSeen) {
  race({}, keyval(), set_if_absent(1), in_turn(set_if_absent(2), get_body));
}
TEST(SetIfAbsent, AgainstSet) { race({}, keyval(), set_if_absent(1), set(2)); }
TEST(SetIfAbsent, AgainstSetOfAnAttached) { race({}, attached(), set_if_absent(2), set(3)); }
TEST(SetIfAbsent, AgainstAFailingSet) {
  race({}, in_turn(attached(), fails()), in_turn(set_if_absent(3), set_if_absent(4)), set(2));
}
TEST(SetIfAbsent, AgainstDelete) { race({}, attached(), in_turn(set_if_absent(2), get), erase); }
TEST(SetIfAbsent, AgainstAFailingDelete) {
  race({}, in_turn(attached(), fails()), in_turn(set_if_absent(2), get), erase);
}
TEST(SetIfAbsent, AgainstDeleteWithoutDeleteFn) {
  race({}, attached(kNone), in_turn(set_if_absent(2), get), erase);
}
TEST(SetIfAbsent, AgainstSetAndDelete) {
  race(kOfThree, attached(), set_if_absent(2), set(3), erase);
}
TEST(SetIfAbsent, TwoAgainstDelete) {
  race(kOfThree, attached(), set_if_absent(2), set_if_absent(3), erase);
}
TEST(SetIfAbsent, AgainstBorrowAndDelete) {
  race(kOfThree, attached(), set_if_absent(2), use, erase);
}
TEST(SetIfAbsent, AgainstFreeOfTheKeyval) {
  race({}, keyval(), in_turn(set_if_absent(1), erase), free_keyval);
}
TEST(SetIfAbsent, AgainstFreeOfTheKeyvalAndDelete) {
  race({}, attached(), set_if_absent(2), in_turn(free_keyval, erase));
}
TEST(SetIfAbsent, AgainstDup) { race({}, in_turn(keyval(Fixture::kCopy)), set_if_absent(1), copy); }
// Within the delete_fn that a delete runs, the value counts as absent.
TEST(SetIfAbsent, WithinDeleteFn) {
  const auto again = [](Fixture& f, int value) {
    if (value == 1) expect(f.set_if_absent(0, 0, 2), "what is being deleted is absent");
  };
  race({}, in_turn(attached(), on_delete(again)), erase, get);
}

}  // namespace
}  // namespace attrcache::model
