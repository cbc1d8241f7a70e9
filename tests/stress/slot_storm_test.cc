// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Threads race to set, set if absent, get and delete a few attributes.

#include "tests/stress/storm.h"

namespace attrcache::support {
namespace {

constexpr int kRounds = 200000 / kSlowness;

// The percentage of operations that are sets, half of them if absent, and deletes. The others are
// gets. Attributes without a delete_fn take a shorter path.
struct Workload {
  const char* name;
  uint32_t sets;
  uint32_t deletes;
  bool has_delete_fn = true;
};

class SlotStorm : public ::testing::TestWithParam<Workload> {};

TEST_P(SlotStorm, EveryValueIsDeletedExactlyOnce) {
  const Workload workload = GetParam();
  Ledger ledger;
  Universe universe;
  attrcache_kind* kind = universe.kind();
  // The first keyval's slot is in the table itself, the last one's in a segment.
  const auto make = [&] {
    return make_keyval(kind, nullptr, workload.has_delete_fn ? callback(counting_delete) : nullptr,
                       nullptr);
  };
  const int near = make();
  int far = 0;
  for (int i = 0; i < 70; ++i) far = make();
  {
    Object object(kind);
    run_threads(kThreads, [&](int t) {
      Random random(t);
      for (int i = 0; i < kRounds; ++i) {
        const int keyval = random.below(2) == 0 ? near : far;
        const uint32_t choice = random.below(100);
        if (choice < workload.sets) {
          if (random.below(2) == 0) {
            EXPECT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK);
          } else {
            set_new_if_absent(ledger, object, keyval);
          }
        } else if (choice < workload.sets + workload.deletes) {
          EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
        } else {
          check_get(object, keyval);
        }
      }
    });
    EXPECT_EQ(object.list().size(), universe.counters().attributes);
  }
  if (workload.has_delete_fn) ledger.expect_all_accounted_for();
  EXPECT_EQ(universe.counters().attributes, 0u);
}

INSTANTIATE_TEST_SUITE_P(Workloads, SlotStorm,
                         ::testing::Values(Workload{"SetSet", 100, 0},
                                           Workload{"SetDelete", 50, 50},
                                           Workload{"GetAgainstAll", 15, 15},
                                           Workload{"NoDeleteFn", 25, 25, false}),
                         [](const auto& info) { return info.param.name; });

// Runs a set or a delete that calls unreliable_delete. If and only if that fails, the call must
// return its code, with CALLBACK, or with OK from a set whose new value was taken up meanwhile.
enum class May { kSet, kDelete };
template <typename Operation>
void may_fail(May what, Operation operation) {
  failed_value = nullptr;
  int code = 0;
  const int result = operation(&code);
  EXPECT_EQ(code, failed_value == nullptr ? 0 : 5);
  if (result != ATTRCACHE_OK || (what == May::kDelete && code != 0)) {
    EXPECT_EQ(result, ATTRCACHE_ERR_CALLBACK);
    EXPECT_NE(code, 0);
  }
  if (code != 0) ++failed_value->failed;
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
        switch (random.below(4)) {
          case 0:
            may_fail(May::kSet, [&](int* code) { return set_new(ledger, object, keyval, code); });
            break;
          case 1:
            may_fail(May::kDelete, [&](int* code) { return object.erase(keyval, code); });
            break;
          case 2:
            set_new_if_absent(ledger, object, keyval);
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
  ledger.expect_all_accounted_for();
}

}  // namespace
}  // namespace attrcache::support
