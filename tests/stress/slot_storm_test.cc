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

// A set or a delete under moody_delete: the call tells of the failure, if there was one, and only
// then. True if it succeeded.
template <typename Operation>
bool moody(Operation operation) {
  moods = {};
  int code = 0;
  const int result = operation(&code);
  EXPECT_EQ(moods.failures, result == ATTRCACHE_ERR_CALLBACK ? 1 : 0);
  if (moods.failures == 0) {
    EXPECT_EQ(result, ATTRCACHE_OK);
    return true;
  }
  EXPECT_EQ(code, 5);
  ++moods.failed->failed;
  return false;
}

// Delete_fns that fail in some threads, while others delete or replace the value.
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
            moody([&](int* code) { return set_new(ledger, object, keyval, code); });
            break;
          case 1:
            moody([&](int* code) { return object.erase(keyval, code); });
            break;
          default:
            check_get(object, keyval);
        }
      }
    });
    while (object.value(keyval) != Object::kAbsent) {
      moody([&](int* code) { return object.erase(keyval, code); });
    }
  }
  EXPECT_EQ(universe.counters().attributes, 0u) << "references agree with attributes";
  EXPECT_GT(ledger.size(), 0u);
  ledger.expect_all_accounted_for();
}

// The same in short rounds, after each of which all is quiet, and each value can be asked for: it
// is attached, or was deleted, or is lost to a failed delete_fn. The last needs somebody to have
// deleted or replaced it while delete_fn ran: there are no more such values than calls that may
// have done so.
TEST(FailingStorm, NoValueIsLostWithoutSomebodyWhoHidIt) {
  constexpr int kCallers = 3;
  Ledger ledger;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  const int keyval = make_keyval(kind, nullptr, callback(moody_delete), nullptr);
  size_t lost_in_all = 0, rounds_without_hiders = 0;
  std::atomic<size_t> hiders{0};
  std::barrier<> step(kCallers);
  {
    Object object(kind);
    run_threads(kCallers, [&](int t) {
      Random random(t);
      size_t looked_at = 0;
      for (int i = 0; i < kRounds / 8; ++i) {
        if (t == 0) {
          while (!moody([&](int* code) { return object.erase(keyval, code); })) {
          }
          looked_at = ledger.size();
          hiders = 0;
          EXPECT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK);
        }
        step.arrive_and_wait();
        if (random.below(3) == 0) {
          if (moody([&](int* code) { return set_new(ledger, object, keyval, code); })) ++hiders;
        } else if (moody([&](int* code) { return object.erase(keyval, code); })) {
          if (moods.calls == 0) ++hiders;  // else it has deleted a value itself
        }
        step.arrive_and_wait();
        if (t != 0) continue;
        const intptr_t attached = object.value(keyval);
        size_t lost = 0;
        for (size_t n = looked_at; n < ledger.size(); ++n) {
          const Ledger::Value& value = ledger.value(n);
          const bool is_attached = as_value(&value) == attached;
          EXPECT_EQ(value.handed_in + value.refused, 1);
          EXPECT_LE(value.deleted + is_attached, value.handed_in);
          if (value.handed_in == 0 || value.deleted != 0 || is_attached) continue;
          EXPECT_GT(value.failed, 0);
          ++lost;
        }
        EXPECT_LE(lost, hiders);
        lost_in_all += lost;
        rounds_without_hiders += hiders == 0;
      }
    });
    while (!moody([&](int* code) { return object.erase(keyval, code); })) {
    }
  }
  ledger.expect_all_accounted_for();
  EXPECT_GT(rounds_without_hiders, 0u);
  EXPECT_GT(lost_in_all, 0u);
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
