// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Keyvals that are freed while other threads use them.

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "tests/model/explorer/plain.h"
#include "tests/model/race.h"

namespace attrcache::model {
namespace {

// Once with all threads on one stripe of the references, once with each on its own.
class FreeKeyval : public ::testing::TestWithParam<unsigned> {
 protected:
  static Setting all() { return {{}, GetParam()}; }
  static Setting within(Options bound) { return {bound, GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Stripes, FreeKeyval, ::testing::Values(1u, 2u));

TEST_P(FreeKeyval, AgainstSet) { race(all(), keyval(), set(1), free_keyval); }
TEST_P(FreeKeyval, AgainstReplacingSet) { race(all(), attached(), set(2), free_keyval); }
TEST_P(FreeKeyval, AgainstDelete) { race(all(), attached(), erase, free_keyval); }
TEST_P(FreeKeyval, AgainstSetThenDelete) {
  race(all(), keyval(), in_turn(set(1), erase), free_keyval);
}
TEST_P(FreeKeyval, AgainstQuickDeleteAndSet) {
  race(within({2, 1}), attached(Fixture::kNone), erase, set(2), free_keyval);
}
TEST_P(FreeKeyval, AgainstSetAndDelete) {
  race(within({2, 1}), attached(), set(2), erase, free_keyval);
}
TEST_P(FreeKeyval, AgainstItself) {
  race(all(), attached(), free_keyval, in_turn(free_keyval, erase));
}
// The same for a keyval that was never used: the exact count decides which of them ends it.
auto unused(Fixture::Callbacks callbacks) {
  return [=](Fixture& f) { f.make_key(callbacks, Fixture::Stripes::kNotOpen); };
}
TEST_P(FreeKeyval, AgainstItselfUnused) {
  race(all(), unused(Fixture::kDelete), free_keyval, free_keyval);
}

// A thread that finds the keyval gone, by an object that never had it, finds its values deleted (K8).
TEST_P(FreeKeyval, IsFoundGoneAfterWhatWasDeleted) {
  const auto find_it_gone = [](Fixture& f) {
    void* value;
    const int result = attrcache_get(f.kind(), &f.table(1), f.keys[0].keyval, &value);
    const bool gone = result == ATTRCACHE_ERR_KEYVAL_STALE;
    reaches("gone", gone);
    if (gone) expect(f.values[1].body.read() > 1000, "deleted");
  };
  race(all(), attached(), in_turn(free_keyval, erase), find_it_gone);
}

constexpr auto erase_elsewhere = [](Fixture& f) { f.erase(1, 0); };
constexpr auto set_elsewhere = [](Fixture& f) { f.set(1, 0, 2); };
TEST_P(FreeKeyval, AgainstAttributesOfTwoObjects) {
  race(within({2, 1}), in_turn(attached(), set_elsewhere), erase, erase_elsewhere, free_keyval);
}
// Threads that attach and delete under a keyval for the first time, all at once.
TEST_P(FreeKeyval, AgainstFirstUses) {
  race(within({2, 1}), unused(Fixture::kNone), in_turn(set(1), erase),
       in_turn(set_elsewhere, erase_elsewhere), free_keyval);
}
TEST_P(FreeKeyval, AgainstGet) {
  race(all(), attached(), in_turn(free_keyval, erase), in_turn(get, get));
}

// Readers of records under a pin: introspection against the end of the keyval.
TEST_P(FreeKeyval, AgainstIntrospection) {
  const auto look = [](Fixture& f) {
    Registry::of(f.kind()).visit(id::of(f.keys[0].keyval), [&f](uint64_t, const Record& record,
                                                                const References& references) {
      touch(&record);
      expect(record.callbacks.extra_state == &f.keys[0], "its own record");
      expect(references.count() <= 1, "its references");
    });
  };
  race(within({2, 1}), attached(), look, erase, free_keyval);
}

}  // namespace
}  // namespace attrcache::model
