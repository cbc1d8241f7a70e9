// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Dups, frees and borrows race with sets and deletes.

#include "tests/stress/storm.h"

namespace attrcache::support {
namespace {

constexpr int kRounds = 50000 / kSlowness;

class WholeStorm : public ::testing::Test {
 protected:
  void SetUp() override { overlaps = 0; }
  void TearDown() override {
    ledger.expect_all_accounted_for();
    EXPECT_EQ(overlaps, 0) << "copy and delete of one value overlapped";
    EXPECT_EQ(universe.counters().attributes, 0u);
  }

  Ledger ledger;
  Universe universe;
  attrcache_kind* kind = universe.kind();
};

TEST_F(WholeStorm, CopyAndDeleteExcludeEachOther) {
  int keyvals[4];
  for (int& keyval : keyvals) {
    keyval = make_keyval(kind, callback(counting_copy), callback(counting_delete), &ledger);
  }
  Object source(kind);
  run_threads(kThreads, [&](int t) {
    Random random(t);
    for (int i = 0; i < kRounds; ++i) {
      const int keyval = keyvals[random.below(4)];
      switch (random.below(4)) {
        case 0:
          EXPECT_EQ(set_new(ledger, source, keyval), ATTRCACHE_OK);
          break;
        case 1:
          EXPECT_EQ(source.erase(keyval), ATTRCACHE_OK);
          break;
        default: {
          Object copy(kind);
          EXPECT_EQ(source.copy_to(copy), ATTRCACHE_OK);
        }
      }
    }
  });
  EXPECT_EQ(source.free(), ATTRCACHE_OK);
}

// One copy in four fails, so the dup must delete the copies that it has attached so far.
int failing_copy(void* object, int keyval, void* extra, void* in, void* out, int* flag) {
  thread_local Random random(reinterpret_cast<uintptr_t>(&random));
  if (random.below(4) == 0) return 3;
  return counting_copy(object, keyval, extra, in, out, flag);
}

TEST_F(WholeStorm, FailingCopiesAreRolledBack) {
  int keyvals[6];
  for (int& keyval : keyvals) {
    keyval = make_keyval(kind, callback(failing_copy), callback(counting_delete), &ledger);
  }
  Object source(kind);
  for (const int keyval : keyvals) set_new(ledger, source, keyval);
  run_threads(kThreads, [&](int t) {
    Random random(t);
    for (int i = 0; i < kRounds; ++i) {
      if (random.below(3) == 0) set_new(ledger, source, keyvals[random.below(6)]);
      Object copy(kind);
      int code = 0;
      const int result = source.copy_to(copy, &code);
      if (result != ATTRCACHE_OK) {
        EXPECT_EQ(result, ATTRCACHE_ERR_CALLBACK);
        EXPECT_EQ(code, 3);
        EXPECT_TRUE(copy.all_zero());
      }
    }
  });
  EXPECT_EQ(source.free(), ATTRCACHE_OK);
}

TEST_F(WholeStorm, BorrowAgainstReplace) {
  const int keyval = make_keyval(kind, nullptr, callback(counting_delete), nullptr);
  Object object(kind);
  run_threads(kThreads, [&](int t) {
    Random random(t);
    for (int i = 0; i < kRounds * 2; ++i) {
      switch (random.below(4)) {
        case 0:
          EXPECT_EQ(set_new(ledger, object, keyval), ATTRCACHE_OK);
          break;
        case 1:
          EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
          break;
        default: {
          attrcache_borrowed borrowed = {};
          if (attrcache_borrow(kind, &object.table, keyval, &borrowed) != ATTRCACHE_OK) break;
          Ledger::Value& value = *Ledger::at(borrowed.value);
          ++value.users;
          if (value.in_delete) ++overlaps;
          EXPECT_EQ(value.object, &object);
          if (i % 8 == 0) {
            EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK) << "it is handed off to this thread";
          }
          if (i % 16 == 0) sched_yield();
          if (value.in_delete) ++overlaps;
          --value.users;
          EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
        }
      }
    }
  });
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
}

}  // namespace
}  // namespace attrcache::support
