// SPDX-License-Identifier: Apache-2.0
//
// set, get and delete that race on a few attributes.

#include "tests/stress/storm.h"

namespace attrcache::support {
namespace {

constexpr int kRounds = 200000 / kSlowness;

// What share of the operations, in percent, are sets and deletes; the rest are gets.
struct Mix {
  const char* name;
  uint32_t sets;
  uint32_t deletes;
};

class SlotStorm : public ::testing::TestWithParam<Mix> {};

TEST_P(SlotStorm, EveryValueIsDeletedExactlyOnce) {
  const Mix mix = GetParam();
  Ledger ledger;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  // One inline, one in a segment.
  const int near = make_keyval(kind, nullptr, callback(counting_delete), nullptr);
  int far = 0;
  for (int i = 0; i < 70; ++i) far = make_keyval(kind, nullptr, callback(counting_delete), nullptr);
  {
    Object object(kind);
    run_threads(kThreads, [&](int t) {
      Random random(t);
      for (int i = 0; i < kRounds; ++i) {
        const int keyval = random.below(2) == 0 ? near : far;
        const uint32_t dice = random.below(100);
        if (dice < mix.sets) {
          EXPECT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK);
        } else if (dice < mix.sets + mix.deletes) {
          EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
        } else {
          check_get(object, keyval);
        }
      }
    });
    EXPECT_EQ(object.list().size(), universe.counters().attributes);
  }
  ledger.expect_all_accounted_for();
  EXPECT_EQ(universe.counters().attributes, 0u);
}

INSTANTIATE_TEST_SUITE_P(Mixes, SlotStorm,
                         ::testing::Values(Mix{"SetSet", 100, 0}, Mix{"SetDelete", 50, 50},
                                           Mix{"DeleteDelete", 10, 80},
                                           Mix{"GetAgainstAll", 15, 15}),
                         [](const auto& info) { return info.param.name; });

// A delete_fn that fails in one thread, while others hide or replace the value: it is restored, or
// else dropped, and the call says which, by what is attached afterwards.
TEST(FailingStorm, EveryValueIsDeletedOnceOrReportedFailed) {
  Ledger ledger;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  const int keyval = make_keyval(kind, nullptr, callback(moody_delete), nullptr);
  {
    Object object(kind);
    run_threads(kThreads, [&](int t) {
      Random random(t);
      for (int i = 0; i < kRounds; ++i) {
        switch (random.below(3)) {
          case 0:
            set_new(ledger, object, keyval);
            break;
          case 1:
            (void)object.erase(keyval);
            break;
          default:
            check_get(object, keyval);
        }
      }
    });
    // What is still attached is deleted by a delete_fn that fails no more... as often as it takes.
    while (object.value(keyval) != Object::kAbsent) (void)object.erase(keyval);
  }
  EXPECT_EQ(universe.counters().attributes, 0u) << "references agree with attributes";
  // A value that was dropped is one whose delete_fn failed after somebody had hidden or replaced
  // it: such values exist, and none of them, nor any other, was deleted twice.
  EXPECT_GT(ledger.size(), 0u);
  ledger.expect_none_deleted_twice();
}

// The values of attributes with no delete_fn: get sees only what was set, and references stay
// right.
TEST(PlainStorm, GetSeesOnlyWhatWasSet) {
  Ledger ledger;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  const int keyval = make_keyval(kind, nullptr, nullptr, nullptr);
  Object object(kind);
  run_threads(kThreads, [&](int t) {
    Random random(t);
    Ledger::Value* mine = ledger.make(keyval, &object);
    for (int i = 0; i < kRounds * 4; ++i) {
      switch (random.below(4)) {
        case 0:
          EXPECT_EQ(object.set(keyval, as_value(mine)), ATTRCACHE_OK);
          break;
        case 1:
          EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
          break;
        default:
          check_get(object, keyval);
      }
    }
  });
  EXPECT_EQ(object.list().size(), universe.counters().attributes);
}

// A value is seen with the tag it was set with.
TEST(TagStorm, ValueAndTagAreReadAsOne) {
  Universe universe;
  attrcache_kind* kind = universe.kind();
  const int keyval = make_keyval(kind, nullptr, nullptr, nullptr);
  Object object(kind);
  run_threads(kThreads, [&](int t) {
    for (int i = 0; i < kRounds; ++i) {
      if (t < 2) {
        // Each tag has values of its own, and a Fint is seen sign-extended.
        if (i % 2 == 0) {
          object.set_as(keyval, 0x1111111122222222, ATTRCACHE_AS_AINT);
        } else {
          object.set_as(keyval, 0x33333333f4444444, ATTRCACHE_AS_FINT);
        }
      } else {
        for (const attrcache_attribute_info& info : object.list()) {
          EXPECT_EQ(info.value, info.tag == ATTRCACHE_AS_AINT
                                    ? 0x1111111122222222
                                    : static_cast<intptr_t>(int32_t(0xf4444444)));
        }
      }
    }
  });
}

}  // namespace
}  // namespace attrcache::support
