// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Nobody starves: neither sets and deletes beside borrows and copies that overlap or follow one
// another without a gap, nor borrows and copies beside such sets. If one side could keep the other
// off, the test would not end before its time limit; otherwise it ends at once.

#include "keyval/id.h"
#include "table/meta.h"
#include "table/table.h"
#include "tests/stress/storm.h"

namespace attrcache::support {
namespace {

constexpr int kRounds = 200 / kSlowness + 1;

class Starvation : public ::testing::Test {
 protected:
  void TearDown() override {
    ledger.expect_all_accounted_for();
    EXPECT_EQ(universe.counters().attributes, 0u);
  }

  // Runs `work` kRounds times in one thread, and `others` all the while in three more.
  template <typename Work, typename Others>
  void run_beside(Work work, Others others) {
    std::atomic<bool> done{false};
    run_threads(4, [&](int t) {
      if (t == 0) {
        for (int i = 0; i < kRounds; ++i) work();
        done = true;
      } else {
        while (!done) others();
      }
    });
  }

  Ledger ledger;
  Universe universe;
  attrcache_kind* kind = universe.kind();
};

// Holds a value for long enough that others come between.
void hold(attrcache_kind* kind, Object& object, int keyval) {
  attrcache_borrowed borrowed = {};
  if (attrcache_borrow(kind, &object.table, keyval, &borrowed) != ATTRCACHE_OK) return;
  for (int i = 0; i < 20; ++i) sched_yield();
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
}

TEST_F(Starvation, SetsBesideBorrowsThatOverlap) {
  for (attrcache_callback* del : {callback(counting_delete), ATTRCACHE_NULL_DELETE_FN}) {
    const int keyval = make_keyval(kind, nullptr, del, &ledger);
    Object object(kind);
    Ledger none;
    Ledger& used = del != ATTRCACHE_NULL_DELETE_FN ? ledger : none;
    run_beside([&] { EXPECT_EQ(set_new(used, object, keyval), ATTRCACHE_OK); },
               [&] { hold(kind, object, keyval); });
    EXPECT_EQ(object.free(), ATTRCACHE_OK);
  }
}

// A value that a set or delete has claimed, and is still attached; else null.
void* claimed_value(Object& object, int keyval) {
  const Pair& slot = *Table::of(&object.table).find(id::index(id::of(keyval)));
  const SlotContent now = slot.load();
  return meta::deleting(now.meta) ? reinterpret_cast<void*>(now.value) : nullptr;
}

// A copy_fn that takes its time, so that sets find values that are being copied.
thread_local void* last_copied;
int slow_copy(void* object, int keyval, void* extra, void* in, void* out, int* flag) {
  last_copied = in;
  for (int i = 0; i < 20; ++i) sched_yield();
  return counting_copy(object, keyval, extra, in, out, flag);
}

// No dup that begins after a set has claimed the value copies it any more. It goes on until some
// dups have begun then.
TEST_F(Starvation, SetsBesideDups) {
  constexpr int kEnough = 20;
  constexpr int kTooMany = 1000000;
  const int keyval = make_keyval(kind, callback(slow_copy), callback(counting_delete), &ledger);
  Object object(kind);
  ASSERT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK);
  std::atomic<int> begun{0}, passed{0};
  const auto set = [&] { EXPECT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK); };
  run_beside(
      [&] {
        set();
        for (int i = 0; i < kTooMany && begun < kEnough; ++i) set();
      },
      [&] {
        void* const claimed = claimed_value(object, keyval);
        last_copied = nullptr;
        Object copy(kind);
        EXPECT_EQ(object.copy_to(copy), ATTRCACHE_OK);
        if (claimed == nullptr) return;
        ++begun;
        passed += last_copied == claimed;
      });
  EXPECT_GE(begun, kEnough);
  EXPECT_EQ(passed, 0);
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
}

TEST_F(Starvation, DeletesBesideBorrowsThatOverlap) {
  const int keyval = make_keyval(kind, nullptr, callback(counting_delete), &ledger);
  Object object(kind);
  run_beside(
      [&] {
        EXPECT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK);
        EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
      },
      [&] { hold(kind, object, keyval); });
}

// A delete_fn that takes its time, so that there is nearly always one running.
int slow_delete(void* object, int keyval, void* value, void* extra) {
  for (int i = 0; i < 20; ++i) sched_yield();
  return counting_delete(object, keyval, value, extra);
}

// And a replacing set is one step for whoever comes beside it: there is always a value.
TEST_F(Starvation, BorrowsAndDupsBesideSetsThatFollowOneAnother) {
  const int keyval = make_keyval(kind, callback(counting_copy), callback(slow_delete), &ledger);
  Object object(kind);
  ASSERT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK);
  run_beside(
      [&] {
        attrcache_borrowed borrowed = {};
        ASSERT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed), ATTRCACHE_OK);
        EXPECT_FALSE(Ledger::at(borrowed.value)->in_delete);
        EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
        Object copy(kind);
        EXPECT_EQ(object.copy_to(copy), ATTRCACHE_OK);
        EXPECT_NE(copy.value(keyval), Object::kAbsent) << "it was attached all the time";
      },
      [&] { EXPECT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK); });
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
}

}  // namespace
}  // namespace attrcache::support
