// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// No circle of waits: callbacks that get, set, delete, dup and free whatever they like, on objects
// that other threads are using. Without borrows no call fails for it. That the threads end is the
// test; it also accounts for every value.

#include <random>
#include <thread>

#include "tests/support/recorder.h"
#include "tests/support/threads.h"

namespace attrcache::support {
namespace {

// Two threads replace each the attribute of an object of its own, whose delete_fn dups and frees
// the other object; or dup each its own object, whose copy_fn deletes the other one's attribute.
class Pairs : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr int kRounds = 3000 / kSlowness;

  struct Context {
    attrcache_kind* kind = nullptr;
    attrcache_table tables[2] = {};
    int keyval = 0;
    bool in_copy = false;
    std::atomic<int> set{0}, copied{0}, deleted{0};
  };
  static int& depth() {
    static thread_local int nested = 0;
    return nested;
  }
  static int copy_fn(void* object, int, void* extra, void* in, void* out, int* flag) {
    auto& c = *static_cast<Context*>(extra);
    if (c.in_copy && depth() == 0) {
      ++depth();
      const int result =
          attrcache_delete(c.kind, other(c, object), other(c, object), c.keyval, nullptr);
      EXPECT_EQ(result, ATTRCACHE_OK);
      --depth();
    }
    *static_cast<void**>(out) = in;
    *flag = 1;
    ++c.copied;
    return 0;
  }
  static int delete_fn(void* object, int, void*, void* extra) {
    auto& c = *static_cast<Context*>(extra);
    ++c.deleted;
    if (!c.in_copy && depth() == 0) {
      ++depth();
      dup_and_free(c, other(c, object));
      --depth();
    }
    return 0;
  }
  static attrcache_table* other(Context& c, void* object) {
    return object == &c.tables[0] ? &c.tables[1] : &c.tables[0];
  }
  static void dup_and_free(Context& c, attrcache_table* from) {
    attrcache_table made = {};
    EXPECT_EQ(attrcache_copy_all(c.kind, from, from, &made, &made, nullptr), ATTRCACHE_OK);
    EXPECT_EQ(attrcache_delete_all(c.kind, &made, &made, ATTRCACHE_STOP_AT_FAILURE, nullptr),
              ATTRCACHE_OK);
  }
};

TEST_P(Pairs, End) {
  Universe universe;
  Context c;
  c.kind = universe.kind();
  c.in_copy = GetParam();
  attrcache_callbacks callbacks = {};
  callbacks.copy_fn = reinterpret_cast<attrcache_callback*>(&copy_fn);
  callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(&delete_fn);
  callbacks.extra_state = &c;
  ASSERT_EQ(attrcache_keyval_create(c.kind, &callbacks, &c.keyval), ATTRCACHE_OK);
  run_threads(2, [&](int t) {
    for (int i = 0; i < kRounds; ++i) {
      EXPECT_EQ(attrcache_set(c.kind, &c.tables[t], &c.tables[t], c.keyval, i, ATTRCACHE_AS_POINTER,
                              nullptr),
                ATTRCACHE_OK);
      ++c.set;
      if (c.in_copy) dup_and_free(c, &c.tables[t]);
    }
  });
  for (attrcache_table& table : c.tables) {
    ++depth();
    EXPECT_EQ(attrcache_delete_all(c.kind, &table, &table, ATTRCACHE_STOP_AT_FAILURE, nullptr),
              ATTRCACHE_OK);
    --depth();
  }
  EXPECT_EQ(c.deleted, c.set + c.copied);
}

INSTANTIATE_TEST_SUITE_P(ByDeleteFnAndByCopyFn, Pairs, ::testing::Bool());

// Four threads, four objects, callbacks that do anything to any of them.
class Anything : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr int kThreads = 4;
  static constexpr int kObjects = 4;
  static constexpr int kRounds = 4000 / kSlowness;

  struct Context {
    attrcache_kind* kind = nullptr;
    attrcache_table tables[kObjects] = {};
    int keyvals[2] = {};
    bool borrows = false;
    std::atomic<int> set{0}, copied{0}, deleted{0};
  };
  struct Mine {
    std::minstd_rand random;
    int depth = 0;
  };
  static Mine& mine() {
    static thread_local Mine state;
    return state;
  }
  static int any(int below) { return static_cast<int>(mine().random() % below); }

  static void do_something(Context& c) {
    attrcache_table* const table = &c.tables[any(kObjects)];
    const int keyval = c.keyvals[any(2)];
    const auto may_be = [&](int result) {
      return result == ATTRCACHE_OK ||
             (c.borrows && (result == ATTRCACHE_ERR_DEADLOCK || result == ATTRCACHE_ERR_BORROWED));
    };
    switch (any(c.borrows ? 6 : 4)) {
      case 0: {
        const int result =
            attrcache_set(c.kind, table, table, keyval, 1, ATTRCACHE_AS_POINTER, nullptr);
        if (result == ATTRCACHE_OK) ++c.set;
        // A delete_fn may set what it is called for, and the set that called it then tries again.
        EXPECT_TRUE(may_be(result) || result == ATTRCACHE_ERR_REATTACHED) << result;
        if (result == ATTRCACHE_ERR_REATTACHED) ++reattached();
        break;
      }
      case 1:
        EXPECT_TRUE(may_be(attrcache_delete(c.kind, table, table, keyval, nullptr)));
        break;
      case 2: {
        void* value;
        attrcache_get(c.kind, table, keyval, &value);
        break;
      }
      case 3: {
        attrcache_table made = {};
        EXPECT_EQ(attrcache_copy_all(c.kind, table, table, &made, &made, nullptr), ATTRCACHE_OK);
        EXPECT_EQ(attrcache_delete_all(c.kind, &made, &made, ATTRCACHE_STOP_AT_FAILURE, nullptr),
                  ATTRCACHE_OK);
        break;
      }
      default: {
        attrcache_borrowed borrowed = {};
        const int result = attrcache_borrow(c.kind, table, keyval, &borrowed);
        if (result != ATTRCACHE_OK) {
          EXPECT_TRUE(result == ATTRCACHE_ABSENT || result == ATTRCACHE_ERR_DEADLOCK ||
                      result == ATTRCACHE_ERR_DELETING);
          break;
        }
        if (++mine().depth <= 3) do_something(c);
        --mine().depth;
        EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
      }
    }
  }
  static std::atomic<int>& reattached() {
    static std::atomic<int> count{0};
    return count;
  }
  static void within_callback(Context& c) {
    if (mine().depth >= 3) return;
    ++mine().depth;
    do_something(c);
    --mine().depth;
  }
  static int copy_fn(void*, int, void* extra, void* in, void* out, int* flag) {
    auto& c = *static_cast<Context*>(extra);
    within_callback(c);
    *static_cast<void**>(out) = in;
    *flag = 1;
    ++c.copied;
    return 0;
  }
  static int delete_fn(void*, int, void*, void* extra) {
    auto& c = *static_cast<Context*>(extra);
    ++c.deleted;
    within_callback(c);
    return 0;
  }
};

TEST_P(Anything, Ends) {
  Universe universe;
  Context c;
  c.kind = universe.kind();
  c.borrows = GetParam();
  attrcache_callbacks callbacks = {};
  callbacks.copy_fn = reinterpret_cast<attrcache_callback*>(&copy_fn);
  callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(&delete_fn);
  callbacks.extra_state = &c;
  for (int& keyval : c.keyvals) {
    ASSERT_EQ(attrcache_keyval_create(c.kind, &callbacks, &keyval), ATTRCACHE_OK);
  }
  reattached() = 0;
  run_threads(kThreads, [&](int t) {
    mine().random.seed(t + 1);
    for (int i = 0; i < kRounds; ++i) do_something(c);
  });
  mine().depth = 3;
  for (attrcache_table& table : c.tables) {
    EXPECT_EQ(attrcache_delete_all(c.kind, &table, &table, ATTRCACHE_STOP_AT_FAILURE, nullptr),
              ATTRCACHE_OK);
  }
  mine().depth = 0;
  EXPECT_EQ(c.deleted, c.set + c.copied);
}

INSTANTIATE_TEST_SUITE_P(WithoutAndWithBorrows, Anything, ::testing::Bool());

}  // namespace
}  // namespace attrcache::support
