// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Many more threads than processors use a few objects. A thread that is in the middle of an
// operation is usually not running, so the others must get past it or let it run.

#include "tests/stress/storm.h"

namespace attrcache::support {
namespace {

constexpr int kCrowd = 64;
constexpr int kObjects = 4;
constexpr int kRounds = 20000 / kSlowness;  // of each thread

void borrow_for_a_moment(Object& object, int keyval) {
  attrcache_borrowed borrowed = {};
  const int result = attrcache_borrow(object.kind, &object.table, keyval, &borrowed);
  if (result == ATTRCACHE_ABSENT) return;
  ASSERT_EQ(result, ATTRCACHE_OK);
  Ledger::Value& value = *Ledger::at(borrowed.value);
  ++value.users;
  if (value.in_delete) ++overlaps;
  --value.users;
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
}

TEST(CrowdStorm, EveryThreadGetsThrough) {
  Ledger ledger, no_delete_fn_ledger;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  const int deleting = make_keyval(kind, nullptr, callback(counting_delete), nullptr);
  const int no_delete_fn = make_keyval(kind, nullptr, nullptr, nullptr);
  {
    Object first(kind), second(kind), third(kind), fourth(kind);
    Object* const objects[kObjects] = {&first, &second, &third, &fourth};
    Ledger::Value* no_delete_fn_values[kObjects];
    for (int i = 0; i < kObjects; ++i)
      no_delete_fn_values[i] = no_delete_fn_ledger.make(no_delete_fn, objects[i]);
    run_threads(kCrowd, [&](int t) {
      Random random(t);
      for (int i = 0; i < kRounds; ++i) {
        const uint32_t at = random.below(kObjects);
        Object& object = *objects[at];
        const int keyval = random.below(2) == 0 ? deleting : no_delete_fn;
        switch (random.below(6)) {
          case 0:
          case 1:
            if (keyval == deleting) {
              EXPECT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK);
            } else {
              EXPECT_EQ(object.set(keyval, as_value(no_delete_fn_values[at])), ATTRCACHE_OK);
            }
            break;
          case 2:
            EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
            break;
          case 3:
            borrow_for_a_moment(object, keyval);
            break;
          default:
            check_get(object, keyval);
        }
      }
    });
  }
  ledger.expect_all_accounted_for();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(universe.counters().attributes, 0u);
}

}  // namespace
}  // namespace attrcache::support
