// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"
#include "tests/support/threads.h"

namespace attrcache::support {
namespace {

// Two ways to end a table that can't fail: attrcache_table_abandon, and attrcache_delete_all in the
// mode ATTRCACHE_DRAIN_FINALLY.

class AbandonTest : public ApiTest {
 protected:
  int abandon(Object& of) { return attrcache_table_abandon(of.kind, &of.table); }
  int abandon() { return abandon(object); }
  int finally(int* code = nullptr) { return object.free(ATTRCACHE_DRAIN_FINALLY, code); }
  uint64_t attributes() const { return universe.counters().attributes; }
};

TEST_F(AbandonTest, NoCallbackRunsAndEverythingIsGivenBack) {
  std::vector<int> keyvals;
  for (int i = 0; i < 100; ++i) {
    keyvals.push_back(i % 2 == 0 ? recorder.keyval(kind) : Recorder::make(kind, {}));
    ASSERT_EQ(object.set(keyvals[i], i), ATTRCACHE_OK);
  }
  EXPECT_EQ(abandon(), ATTRCACHE_OK);
  EXPECT_TRUE(recorder.deletions.empty());
  EXPECT_TRUE(recorder.copies.empty());
  EXPECT_TRUE(object.all_zero());
  EXPECT_EQ(attributes(), 0u);
  EXPECT_EQ(object.set(keyvals[99], 1), ATTRCACHE_OK) << "the table is as new";
  EXPECT_EQ(object.value(keyvals[99]), 1);
  EXPECT_EQ(abandon(), ATTRCACHE_OK);
  EXPECT_EQ(abandon(), ATTRCACHE_OK) << "again";
  EXPECT_EQ(recorder.destructions, 0);
}

TEST_F(AbandonTest, EndsFreedKeyvals) {
  const int keyval = recorder.keyval(kind);
  Object other(kind);
  object.set(keyval, 1);
  other.set(keyval, 2);
  free_keyval(kind, keyval);
  EXPECT_EQ(abandon(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 0);
  EXPECT_EQ(abandon(other), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 1);
  EXPECT_TRUE(recorder.deletions.empty());
  EXPECT_EQ(universe.counters().keyvals_gone, 1u);
}

TEST_F(AbandonTest, ABorrowFromAnAbandonedTableIsStillGivenBack) {
  const int keyval = recorder.keyval(kind);
  const int far = keyvals(100).back();
  attrcache_borrowed borrowed[3] = {};
  object.set(keyval, 1);
  object.set(far, 2);
  ASSERT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed[0]), ATTRCACHE_OK);
  ASSERT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed[1]), ATTRCACHE_OK);
  ASSERT_EQ(attrcache_borrow(kind, &object.table, far, &borrowed[2]), ATTRCACHE_OK);
  EXPECT_EQ(abandon(), ATTRCACHE_OK);
  EXPECT_TRUE(object.all_zero());
  EXPECT_EQ(object.set(keyval, 3), ATTRCACHE_OK);
  for (attrcache_borrowed& b : borrowed) {
    EXPECT_EQ(attrcache_give_back(&b), ATTRCACHE_OK);
    EXPECT_EQ(attrcache_give_back(&b), ATTRCACHE_ERR_ARGUMENT);
  }
  EXPECT_EQ(object.list().at(0).holders, 0u) << "give_back doesn't touch the new value";
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
}

// No slot shows a deletion whose claim another thread's set has attached over, nor a set's own
// deletion; but the thread that runs it will touch the table again.
TEST_F(AbandonTest, ADeletionThatNoSlotShowsKeepsTheTable) {
  for (int i = 0; i < 8; ++i) recorder.keyval(kind);  // so that the slot is in memory that is freed
  for (const bool by_set : {false, true}) {
    const int keyval = recorder.keyval(kind);
    object.set(keyval, 1);
    Gate running, may_end;
    recorder.deletions.clear();
    recorder.on_delete = [&](const Call& call) {
      if (call.value != 1) return 0;
      running.open();
      may_end.wait();
      return 7;  // fails, so that the deleter looks at the slot again
    };
    std::thread deleter([&] {
      EXPECT_EQ(by_set ? object.set(keyval, 2) : object.erase(keyval),
                by_set ? ATTRCACHE_OK : ATTRCACHE_ERR_CALLBACK);
    });
    running.wait();
    EXPECT_EQ(object.set(keyval, 3), ATTRCACHE_OK);
    for (int times = 0; times < 2; ++times) EXPECT_EQ(object.free(), ATTRCACHE_ERR_BUSY);
    EXPECT_EQ(object.value(keyval), Object::kAbsent);
    may_end.open();
    deleter.join();
    EXPECT_EQ(finally(), ATTRCACHE_OK);
    EXPECT_TRUE(object.all_zero());
    EXPECT_EQ(attributes(), 0u);
    recorder.on_delete = nullptr;
  }
}

TEST_F(AbandonTest, WithinItsOwnCallbacks) {
  const int first = recorder.keyval(kind);
  const int second = recorder.keyval(kind);
  object.set(first, 1);
  object.set(second, 2);
  recorder.on_delete = [&](const Call&) {
    EXPECT_EQ(abandon(), ATTRCACHE_OK);
    return 0;
  };
  EXPECT_EQ(object.erase(first), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{1}));
  EXPECT_TRUE(object.all_zero());
  recorder.on_delete = nullptr;
  // In a copy_fn, of the object that is being copied.
  object.set(first, 3);
  object.set(second, 4);
  recorder.on_copy = [&](const Call&, void**, int*) {
    EXPECT_EQ(abandon(), ATTRCACHE_OK);
    return 0;
  };
  Object to(kind);
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_ERR_FREED);
  EXPECT_TRUE(object.all_zero());
  EXPECT_EQ(attributes(), 0u);
}

// Each keyval's destructor makes another keyval, attaches under it, and frees it. One chain ends;
// the other is endless, and costs a keyval, not the table.
TEST_F(AbandonTest, DestructorsThatAttachAgain) {
  struct Chain {
    Object object;
    int left = 0;
    static void make(void* extra, void*) {
      auto* self = static_cast<Chain*>(extra);
      if (self->left-- == 0) return;
      int keyval = make_keyval(self->object.kind, nullptr, nullptr, self, ATTRCACHE_C, make);
      EXPECT_EQ(self->object.set(keyval, 1), ATTRCACHE_OK);
      EXPECT_EQ(attrcache_keyval_free(self->object.kind, &keyval), ATTRCACHE_OK);
    }
  };
  attrcache_domain* domain;
  ASSERT_EQ(attrcache_domain_create(nullptr, &domain), ATTRCACHE_OK);
  Chain chain = {Object(kind_of(domain, 0))};
  for (const int length : {5, 1 << 30}) {
    for (const bool by_abandon : {true, false}) {
      chain.left = length;
      Chain::make(&chain, nullptr);
      EXPECT_EQ(by_abandon ? abandon(chain.object) : chain.object.free(ATTRCACHE_DRAIN_FINALLY),
                by_abandon || length == 5 ? ATTRCACHE_OK : ATTRCACHE_ERR_REATTACHED);
      EXPECT_TRUE(chain.object.all_zero());
      EXPECT_EQ(chain.left == -1, length == 5);
    }
  }
  chain.left = 0;
  attrcache_leaks leaks;
  EXPECT_EQ(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_ANYWAY, &leaks), ATTRCACHE_OK);
  EXPECT_EQ(leaks.attributes, 2u) << "one of each endless chain";
}

TEST_F(AbandonTest, ACopiedTableIsMadeNewAndTheOriginalStays) {
  const int keyval = recorder.keyval(kind);
  for (int i = 0; i < 4; ++i) recorder.keyval(kind);
  const int outside = recorder.keyval(kind);
  for (const bool by_abandon : {true, false}) {
    object.set(keyval, 1);
    object.set(outside, 2);
    Object copied(kind);
    std::memcpy(&copied.table, &object.table, sizeof(copied.table));
    EXPECT_EQ(by_abandon ? abandon(copied) : copied.free(ATTRCACHE_DRAIN_FINALLY),
              ATTRCACHE_ERR_MOVED);
    EXPECT_TRUE(copied.all_zero());
    EXPECT_EQ(object.value(keyval), 1);
    EXPECT_EQ(object.value(outside), 2);
    EXPECT_EQ(object.free(), ATTRCACHE_OK);
  }
}

TEST_F(AbandonTest, AttributesOfAnotherKind) {
  attrcache_kind* const windows = universe.kind(ATTRCACHE_WINDOW);
  for (const bool by_abandon : {true, false}) {
    Object window(windows);
    int of_window = recorder.keyval(windows);
    recorder.keyval(kind);
    const int keyval = recorder.keyval(kind);  // another index
    recorder.deletions.clear();
    window.set(of_window, 1);
    ASSERT_EQ(
        attrcache_set_as(kind, &window.table, &window, keyval, 2, ATTRCACHE_AS_POINTER, nullptr),
        ATTRCACHE_OK);
    // The call's kind is that of the second attribute.
    EXPECT_EQ(by_abandon ? attrcache_table_abandon(kind, &window.table)
                         : attrcache_delete_all(kind, &window.table, &window,
                                                ATTRCACHE_DRAIN_FINALLY, nullptr),
              ATTRCACHE_ERR_KEYVAL_KIND);
    EXPECT_TRUE(window.all_zero());
    EXPECT_EQ(recorder.deleted(), by_abandon ? std::vector<intptr_t>{} : std::vector<intptr_t>{2});
  }
  attrcache_domain* const domain = universe.release();
  attrcache_leaks leaks;
  EXPECT_EQ(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_ANYWAY, &leaks), ATTRCACHE_OK);
  EXPECT_EQ(leaks.attributes, 2u) << "their references were lost";
}

TEST_F(AbandonTest, FinallyAbandonsOnlyWhatIsHeld) {
  const std::vector<int> keyvals = ApiTest::keyvals(5);
  for (int i = 0; i < 5; ++i) object.set(keyvals[i], i);
  attrcache_borrowed older = {}, borrowed = {};
  ASSERT_EQ(attrcache_borrow(kind, &object.table, keyvals[2], &older), ATTRCACHE_OK);
  EXPECT_EQ(object.set(keyvals[2], 5), ATTRCACHE_OK) << "the deletion of 2 is left";
  ASSERT_EQ(attrcache_borrow(kind, &object.table, keyvals[2], &borrowed), ATTRCACHE_OK);
  EXPECT_EQ(object.free(ATTRCACHE_DRAIN), ATTRCACHE_ERR_BUSY);
  EXPECT_EQ(finally(), ATTRCACHE_ERR_BUSY);
  EXPECT_EQ(recorder.deleted(), (std::vector<intptr_t>{4, 3, 1, 0}));
  EXPECT_TRUE(object.all_zero());
  EXPECT_EQ(attributes(), 0u);
  for (auto* b : {&older, &borrowed}) EXPECT_EQ(attrcache_give_back(b), ATTRCACHE_OK);
}

TEST_F(AbandonTest, FinallyAbandonsWhatCallbacksGoOnAttaching) {
  const int keyval = recorder.keyval(kind);
  object.set(keyval, 1);
  recorder.on_delete = [&](const Call& call) {
    object.set(keyval, call.value + 1);
    return 0;
  };
  for (const auto mode : {ATTRCACHE_STOP_AT_FAILURE, ATTRCACHE_DRAIN}) {
    EXPECT_EQ(object.free(mode), ATTRCACHE_ERR_REATTACHED);
    EXPECT_EQ(object.list().size(), 1u) << "the last one is still there";
  }
  EXPECT_EQ(finally(), ATTRCACHE_ERR_REATTACHED);
  EXPECT_EQ(recorder.deletions.size(), 3 * 16u);
  EXPECT_TRUE(object.all_zero());
  EXPECT_EQ(attributes(), 0u);
}

}  // namespace
}  // namespace attrcache::support
