// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Predefined keyvals that come and go while threads read them, and while users make and free keyvals
// of their own: a runtime that is initialized and finalized many times.

#include <atomic>
#include <set>

#include "tests/support/fixture.h"
#include "tests/support/threads.h"

namespace attrcache::support {
namespace {

constexpr int kPerKind = 1, kComputed = 2, kPerObject = 3;
constexpr int kRounds = 4000 / kSlowness;

// What values point to: never freed, and always full.
struct Content {
  std::atomic<int> number{0};
};
Content contents[2];

class DefineStorm : public ::testing::Test {
 protected:
  attrcache_predefined predefined(int number, int round) {
    attrcache_predefined p = {};
    p.number = number;
    p.tag = ATTRCACHE_AS_POINTER;
    p.value = reinterpret_cast<intptr_t>(&contents[round % 2]);
    p.where = number == kPerKind ? ATTRCACHE_PER_KIND : ATTRCACHE_PER_OBJECT;
    if (number == kComputed) {
      p.where = ATTRCACHE_COMPUTED;
      p.compute = [](const attrcache_table*, void* context) -> const void* { return context; };
      p.context = &addresses[round % 2];
    }
    return p;
  }
  // Of a read that may come at any time.
  static void expect_right(int result, intptr_t value, bool may_be_absent) {
    if (result == ATTRCACHE_OK) {
      const auto* content = reinterpret_cast<const Content*>(value);
      ASSERT_TRUE(content == &contents[0] || content == &contents[1]);
      ASSERT_EQ(content->number.load(std::memory_order_relaxed), 7);
      return;
    }
    const bool gone =
        result == ATTRCACHE_ERR_KEYVAL_UNKNOWN || result == ATTRCACHE_ERR_KEYVAL_STALE;
    ASSERT_TRUE(gone || (may_be_absent && result == ATTRCACHE_ABSENT)) << result;
  }

  Content* addresses[2] = {&contents[0], &contents[1]};
  Universe universe;
  attrcache_kind* kind = universe.kind();
};

TEST_F(DefineStorm, ARuntimeThatBeginsAndEndsBesideItsUsers) {
  for (Content& content : contents) content.number = 7;
  Object object(kind);
  std::atomic<bool> done{false};
  std::atomic<int> found{0};
  run_threads(kThreads, [&](int t) {
    if (t == 0) {    // the runtime
      struct Done {  // also where an assertion leaves this
        ~Done() { done = true; }
        std::atomic<bool>& done;
      } at_the_end{done};
      Object own(kind);
      for (int round = 0; round < kRounds; ++round) {
        for (const int number : {kPerKind, kComputed, kPerObject}) {
          const attrcache_predefined p = predefined(number, round);
          ASSERT_EQ(attrcache_keyval_define(kind, &p), ATTRCACHE_OK);
        }
        ASSERT_EQ(attrcache_set_predefined(kind, nullptr, kPerKind,
                                           reinterpret_cast<intptr_t>(&contents[0])),
                  ATTRCACHE_OK);
        ASSERT_EQ(attrcache_set_predefined(kind, &object.table, kPerObject,
                                           reinterpret_cast<intptr_t>(&contents[1])),
                  ATTRCACHE_OK);
        ASSERT_EQ(attrcache_set_predefined(kind, &own.table, kPerObject, 5), ATTRCACHE_OK);
        if (round % 64 == 0) sched_yield();
        ASSERT_EQ(attrcache_delete_predefined(kind, &object.table, kPerObject), ATTRCACHE_OK);
        for (const int number : {kPerKind, kComputed, kPerObject}) {
          ASSERT_EQ(attrcache_keyval_undefine(kind, number), ATTRCACHE_OK);
        }
        ASSERT_EQ(own.free(), ATTRCACHE_OK);
      }
      return;
    }
    if (t == 1) {  // a user
      std::set<int> mine;
      while (!done) {
        int keyval = 0;
        ASSERT_EQ(attrcache_keyval_create(kind, nullptr, &keyval), ATTRCACHE_OK);
        ASSERT_TRUE(mine.insert(keyval).second);
        ASSERT_EQ(object.set(keyval, keyval), ATTRCACHE_OK);
        ASSERT_EQ(object.value(keyval), keyval);
        ASSERT_EQ(object.erase(keyval), ATTRCACHE_OK);
        if (mine.size() == 100) {
          for (int k : mine) ASSERT_EQ(attrcache_keyval_free(kind, &k), ATTRCACHE_OK);
          mine.clear();
        }
      }
      return;
    }
    while (!done) {  // readers
      for (const int number : {kPerKind, kComputed, kPerObject}) {
        void* value = nullptr;
        const int result = object.get(number, &value);
        expect_right(result, reinterpret_cast<intptr_t>(value), number == kPerObject);
        found += result == ATTRCACHE_OK;
        intptr_t aint = 0;
        const int read = attrcache_get_aint(kind, &object.table, number, &aint);
        expect_right(read, aint, number == kPerObject);
        attrcache_borrowed borrowed;
        const int lent = attrcache_borrow(kind, &object.table, number, &borrowed);
        expect_right(lent, reinterpret_cast<intptr_t>(borrowed.value), number == kPerObject);
        if (lent == ATTRCACHE_OK) {
          ASSERT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
        }
      }
      attrcache_keyval_info infos[4];
      size_t count = 0;
      ASSERT_EQ(attrcache_keyval_list(kind, infos, 4, &count), ATTRCACHE_OK);
    }
  });
  EXPECT_GT(found, 0);
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  EXPECT_EQ(universe.counters().attributes, 0u);
}

// Many threads define and undefine the same numbers: of each number one has it at a time.
TEST_F(DefineStorm, ManyRuntimes) {
  std::atomic<int> owners[4] = {};
  std::atomic<int> defined{0};
  run_threads(kThreads, [&](int t) {
    Random random(static_cast<uint64_t>(t));
    for (int round = 0; round < kRounds; ++round) {
      const int which = static_cast<int>(random.below(4));
      attrcache_predefined p = {};
      p.number = 100 + which;
      p.where = random.below(2) == 0 ? ATTRCACHE_PER_KIND : ATTRCACHE_PER_OBJECT;
      const int result = attrcache_keyval_define(kind, &p);
      if (result != ATTRCACHE_OK) {
        ASSERT_TRUE(result == ATTRCACHE_ERR_ARGUMENT || result == ATTRCACHE_ERR_BUSY) << result;
        continue;
      }
      ASSERT_EQ(owners[which].fetch_add(1), 0);
      ++defined;
      ASSERT_EQ(owners[which].fetch_sub(1), 1);
      int gone;
      do {
        gone = attrcache_keyval_undefine(kind, p.number);
      } while (gone == ATTRCACHE_ERR_BUSY);
      ASSERT_EQ(gone, ATTRCACHE_OK);
    }
  });
  EXPECT_GT(defined, 0);
  attrcache_counters counters = universe.counters();
  EXPECT_EQ(counters.keyvals_created, counters.keyvals_gone);
}

}  // namespace
}  // namespace attrcache::support
