// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Threads race to set, get and delete a few attributes.

#include "tests/stress/storm.h"

namespace attrcache::support {
namespace {

constexpr int kRounds = 200000 / kSlowness;

// The percentage of operations that are sets and deletes. The others are gets.
struct Workload {
  const char* name;
  uint32_t sets;
  uint32_t deletes;
};

class SlotStorm : public ::testing::TestWithParam<Workload> {};

TEST_P(SlotStorm, EveryValueIsDeletedExactlyOnce) {
  const Workload workload = GetParam();
  Ledger ledger;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  // The first keyval's slot is in the table itself, the last one's in a segment.
  const int near = make_keyval(kind, nullptr, callback(counting_delete), nullptr);
  int far = 0;
  for (int i = 0; i < 70; ++i) far = make_keyval(kind, nullptr, callback(counting_delete), nullptr);
  {
    Object object(kind);
    run_threads(kThreads, [&](int t) {
      Random random(t);
      for (int i = 0; i < kRounds; ++i) {
        const int keyval = random.below(2) == 0 ? near : far;
        const uint32_t choice = random.below(100);
        if (choice < workload.sets) {
          EXPECT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK);
        } else if (choice < workload.sets + workload.deletes) {
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

INSTANTIATE_TEST_SUITE_P(Workloads, SlotStorm,
                         ::testing::Values(Workload{"SetSet", 100, 0},
                                           Workload{"SetDelete", 50, 50},
                                           Workload{"DeleteDelete", 10, 80},
                                           Workload{"GetAgainstAll", 15, 15}),
                         [](const auto& info) { return info.param.name; });

// Runs a set or a delete of a value whose delete_fn is unreliable_delete. The call must tell the
// code exactly if that failed, beside CALLBACK, or beside OK if somebody has taken up what was set.
// Returns whether the call succeeded.
enum class May { kSet, kDelete };
template <typename Operation>
bool may_fail(May what, Operation operation) {
  delete_outcomes = {};
  int code = 0;
  const int result = operation(&code);
  EXPECT_EQ(code, delete_outcomes.failures == 0 ? 0 : 5);
  if (result != ATTRCACHE_OK || (what == May::kDelete && code != 0)) {
    EXPECT_EQ(result, ATTRCACHE_ERR_CALLBACK);
    EXPECT_NE(code, 0);
  }
  if (code != 0) ++delete_outcomes.failed->failed;
  return result == ATTRCACHE_OK;
}

// delete_fn fails in some threads while others delete or replace the same value.
TEST(FailingStorm, EveryValueIsDeletedOnceOrReportedFailed) {
  Ledger ledger;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  const int keyval = make_keyval(kind, nullptr, callback(unreliable_delete), nullptr);
  {
    Object object(kind);
    run_threads(kThreads, [&](int t) {
      Random random(t);
      for (int i = 0; i < kRounds; ++i) {
        switch (random.below(3)) {
          case 0:
            may_fail(May::kSet, [&](int* code) { return set_new(ledger, object, keyval, code); });
            break;
          case 1:
            may_fail(May::kDelete, [&](int* code) { return object.erase(keyval, code); });
            break;
          default:
            check_get(object, keyval);
        }
      }
    });
    while (object.value(keyval) != Object::kAbsent) {
      may_fail(May::kDelete, [&](int* code) { return object.erase(keyval, code); });
    }
  }
  EXPECT_EQ(universe.counters().attributes, 0u) << "references agree with attributes";
  EXPECT_GT(ledger.size(), 0u);
  ledger.expect_all_accounted_for();
}

// The same in short rounds. After each round no thread is at work, so every value can be looked up:
// it is attached, or was deleted, or its delete_fn failed and it stayed detached. A value stays
// detached only if another call deleted or replaced (hid) it while its delete_fn ran, or if the set
// that ran it has succeeded all the same. So there can be no more such values than sets that
// succeeded and deletes that may have hidden one. To be worth anything, it must have
// met such a value, and a round in which nobody hid one, so it goes on until it has.
TEST(FailingStorm, NoValueIsLostWithoutSomebodyWhoHidIt) {
  constexpr int kCallers = 3;
  Ledger ledger;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  const int keyval = make_keyval(kind, nullptr, callback(unreliable_delete), nullptr);
  size_t lost_in_all = 0, rounds_without_hidings = 0;
  std::atomic<size_t> hidings{0};
  std::atomic<bool> over{false};
  std::barrier<> step(kCallers);
  {
    Object object(kind);
    run_threads(kCallers, [&](int t) {
      Random random(t);
      size_t looked_at = 0;
      // Few rounds: on a busy machine, each step costs a turn of all its processes.
      for (int i = 0;; ++i) {
        if (t == 0) {
          const bool met = rounds_without_hidings != 0 && lost_in_all != 0;
          over = i >= kRounds / 80 && (met || i >= kRounds);
          while (!may_fail(May::kDelete, [&](int* code) { return object.erase(keyval, code); })) {
          }
          looked_at = ledger.size();
          hidings = 0;
          EXPECT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK);
        }
        step.arrive_and_wait();
        if (over) break;
        if (random.below(3) == 0) {
          if (may_fail(May::kSet, [&](int* code) { return set_new(ledger, object, keyval, code); }))
            ++hidings;
        } else if (may_fail(May::kDelete, [&](int* code) { return object.erase(keyval, code); })) {
          if (delete_outcomes.calls == 0) ++hidings;  // otherwise it has deleted one itself
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
        EXPECT_LE(lost, hidings);
        lost_in_all += lost;
        rounds_without_hidings += hidings == 0;
      }
    });
    while (!may_fail(May::kDelete, [&](int* code) { return object.erase(keyval, code); })) {
    }
  }
  ledger.expect_all_accounted_for();
  EXPECT_GT(rounds_without_hidings, 0u);
  EXPECT_GT(lost_in_all, 0u);
}

// Attributes without a delete_fn take a shorter path. There, too, get sees only what was set, and
// the keyval's count of references stays right.
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

// A value is always read together with the tag that it was set with.
TEST(TagStorm, ValueAndTagAreReadAsOne) {
  // Each tag is used with one value only: of these, as much as an address has bits. A Fint is read
  // sign-extended.
  constexpr auto kAint = static_cast<intptr_t>(0x1111111122222222);
  constexpr auto kFint = static_cast<intptr_t>(0x33333333f4444444);
  Universe universe;
  attrcache_kind* kind = universe.kind();
  const int keyval = make_keyval(kind, nullptr, nullptr, nullptr);
  Object object(kind);
  run_threads(kThreads, [&](int t) {
    for (int i = 0; i < kRounds; ++i) {
      if (t < 2) {
        if (i % 2 == 0) {
          object.set_as(keyval, kAint, ATTRCACHE_AS_AINT);
        } else {
          object.set_as(keyval, kFint, ATTRCACHE_AS_FINT);
        }
      } else {
        for (const attrcache_attribute_info& info : object.list()) {
          EXPECT_EQ(info.value,
                    info.tag == ATTRCACHE_AS_AINT ? kAint : static_cast<int32_t>(kFint));
        }
      }
    }
  });
}

}  // namespace
}  // namespace attrcache::support
