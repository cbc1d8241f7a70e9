// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Users of attributes on oneTBB's arenas and groups: libraries that know nothing of each other and
// cache what they need on the scope that they are called in.

#include "tests/embedding/tasks/tasks.h"

#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/threads.h"

#ifdef ATTRCACHE_TESTS_UNDER_TSAN
// Debian's libtbb is not compiled for ThreadSanitizer, which therefore doesn't see how a task's
// start is ordered after its spawning, and takes every lambda's captures for a race. What runs
// outside of oneTBB is still checked; tests/stress checks the library itself.
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_suppressions() {
  return "race:libtbb.so\n";
}
#endif

namespace {

using attrcache::Copied;
using tasks::Keyval;
using tasks::Scope;
using tasks::TaskArena;
using tasks::TaskGroup;

// A tracing library. Each scope has a trace of its own, which says where it comes from.
struct Trace {
  static Copied<Trace> copy(Scope&, Trace* parent) { return new Trace{parent->path + "/"}; }
  std::string path;
};

// A memory library. A scope's buffer is made when it is first needed, and never inherited.
struct Buffer {
  static inline std::atomic<int> alive{0};
  Buffer() { ++alive; }
  ~Buffer() { --alive; }
  std::string bytes;
};

Keyval<Buffer> make_buffer_keyval() {
  return *Keyval<Buffer>::create(Scope::kind(), attrcache::copy_nothing, attrcache::destroy);
}

// Any number of tasks may call it at once.
attrcache::Borrowed<Buffer> buffer_of(Scope& scope, const Keyval<Buffer>& keyval) {
  return keyval.get_or_emplace(scope);
}

class TasksTest : public ::testing::Test {
 protected:
  // Whatever a test does, its scopes leave nothing behind.
  void TearDown() override {
    EXPECT_EQ(Scope::domain().counters().attributes, 0u);
    EXPECT_EQ(Scope::current(), nullptr);
    EXPECT_EQ(Buffer::alive, 0);
  }
};

TEST_F(TasksTest, LibrariesCacheOnScopes) {
  const auto trace = *Keyval<Trace>::create(Scope::kind(), Trace::copy, attrcache::destroy);
  const auto buffer = make_buffer_keyval();
  std::mutex mutex;
  std::vector<std::string> paths;
  {
    TaskArena arena(2);
    ASSERT_TRUE(trace.set(arena, new Trace{"arena"}));
    buffer_of(arena, buffer)->bytes = "of the arena";
    arena.execute([&] {
      TaskGroup group;
      trace.get(group)->path += "group";
      EXPECT_EQ(buffer.get(group), nullptr);
      for (int i = 0; i < 100; ++i) {
        group.run([&] {
          EXPECT_EQ(Scope::current(), &group);
          TaskGroup inner;
          buffer_of(inner, buffer)->bytes += "of this group";
          inner.run([&] {
            EXPECT_EQ(Scope::current(), &inner);
            const std::lock_guard lock(mutex);
            paths.push_back(trace.get(*Scope::current())->path);
          });
          inner.wait();  // this thread may run other groups' tasks meanwhile
          EXPECT_EQ(Scope::current(), &group);
          EXPECT_EQ(buffer_of(inner, buffer)->bytes, "of this group");
        });
      }
      group.wait();
      EXPECT_EQ(Scope::current(), &arena);
      // The inner groups have ended. Left are the outer one's trace, the arena's and its buffer.
      EXPECT_EQ(Scope::domain().counters().attributes, 3u);
    });
    EXPECT_EQ(buffer.get(arena)->bytes, "of the arena");
  }
  EXPECT_EQ(paths, std::vector<std::string>(100, "arena/group/"));
}

// Tasks that need a scope's buffer at the same time all get one: with get, then set, a second one
// would replace what the first is using.
TEST_F(TasksTest, OneTaskMakesTheBufferForAll) {
  const auto keyval = make_buffer_keyval();
  TaskArena arena(2);
  arena.execute([&] {
    for (int round = 0; round < 100; ++round) {
      std::atomic<Buffer*> first{nullptr};
      TaskGroup group;
      for (int i = 0; i < 8; ++i) {
        group.run([&] {
          const auto buffer = buffer_of(group, keyval);
          Buffer* none = nullptr;
          EXPECT_TRUE(first.compare_exchange_strong(none, buffer.get()) || none == buffer.get());
        });
      }
      group.wait();
      EXPECT_EQ(Buffer::alive, 1);
    }
  });
}

TEST_F(TasksTest, AlgorithmsRunInABoundScope) {
  std::atomic<int> calls{0};
  TaskArena arena(2);
  arena.execute([&] {
    TaskGroup group;
    group.run([&] {
      tbb::parallel_for(0, 100, group.bind([&](int) {
        EXPECT_EQ(Scope::current(), &group);
        ++calls;
      }));
    });
    group.wait();
  });
  EXPECT_EQ(calls, 100);
}

// Each group has a copy of its parent's limit, less one. The copy callback refuses at 0, the
// constructor throws, and oneTBB passes the exception from task to task to the thread that waits.
TEST_F(TasksTest, ACopyCallbackMayRefuseANewGroup) {
  constexpr int kRefused = 42;
  const auto limit = *Keyval<int>::create(
      Scope::kind(),
      [](int* depth) -> Copied<int> {
        return *depth > 0 ? Copied<int>(new int(*depth - 1)) : Copied<int>::fail(kRefused);
      },
      attrcache::destroy);
  const auto buffer = make_buffer_keyval();
  TaskArena arena(2);
  ASSERT_TRUE(limit.set(arena, new int(2)));
  std::atomic<int> groups{0};
  struct Recursion {
    void operator()() const {
      TaskGroup group;
      ++groups;
      EXPECT_TRUE(buffer_of(group, buffer));
      group.run(*this);
      group.wait();
    }
    std::atomic<int>& groups;
    const Keyval<Buffer>& buffer;
  };
  try {
    arena.execute(Recursion{groups, buffer});
    ADD_FAILURE() << "the third group was not refused";
  } catch (const tasks::InheritanceError& error) {
    EXPECT_EQ(error.outcome.status, attrcache::Status::callback);
    EXPECT_EQ(error.outcome.callback_code, kRefused);
  }
  EXPECT_EQ(groups, 2);
  EXPECT_EQ(Buffer::alive, 0) << "groups that an exception ends delete their attributes, too";
}

TEST_F(TasksTest, AGroupThatNobodyWaitsForIsCancelled) {
  const auto buffer = make_buffer_keyval();
  std::atomic<int> inside{0};
  TaskArena arena(2);
  arena.execute([&] {
    TaskGroup group;
    EXPECT_TRUE(buffer_of(group, buffer));
    for (int i = 0; i < 100; ++i) {
      group.run([&] {
        ++inside;
        EXPECT_NE(buffer.get(*Scope::current()), nullptr);
        --inside;
      });
    }
  });
  EXPECT_EQ(inside, 0);
  EXPECT_EQ(Buffer::alive, 0);
}

// A setting on the arena, which many tasks read while another thread replaces it. A value that is
// borrowed isn't destroyed.
TEST_F(TasksTest, ASharedSettingIsReplacedUnderItsReaders) {
  struct Setting {
    explicit Setting(int value) : value(value), check(~value) {}
    ~Setting() { value = check = 0; }
    int value, check;
  };
  const auto setting =
      *Keyval<Setting>::create(Scope::kind(), attrcache::copy_nothing, attrcache::destroy);
  std::atomic<int> read{0};
  TaskArena arena(2);
  ASSERT_TRUE(setting.set(arena, new Setting(0)));
  arena.execute([&] {
    TaskGroup group;
    for (int i = 0; i < 50; ++i) {
      group.run([&] {
        for (int j = 0; j < 100; ++j) {
          if (const auto held = setting.borrow(arena)) {
            EXPECT_EQ(held->check, ~held->value);
            ++read;
          }
        }
      });
      ASSERT_TRUE(setting.set(arena, new Setting(i)));
    }
    group.wait();
  });
  EXPECT_GT(read, 0);
}

}  // namespace
