// SPDX-License-Identifier: Apache-2.0
//
// Users of the task runtime: libraries that know nothing of each other, and cache on tasks.

#include "tests/embedding/tasks/tasks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

namespace {

using attrcache::Copied;
using tasks::Keyval;
using tasks::Runtime;
using tasks::Task;

// A tracing library: where a task comes from. Each task has a trace of its own.
struct Trace {
  static Copied<Trace> copy(Task&, Trace* parent) { return new Trace{parent->path + "/"}; }
  static void remove(Trace* trace) { delete trace; }
  std::string path;
};

// A memory library: an arena of the task's own, made at first use, never inherited.
struct Arena {
  static inline std::atomic<int> alive{0};
  Arena() { ++alive; }
  ~Arena() { --alive; }
  std::string bytes;
};

Arena& arena_of(Task& task, const Keyval<Arena>& keyval) {
  if (Arena* found = keyval.get(task)) return *found;
  auto made = std::make_unique<Arena>();
  Arena& arena = *made;
  EXPECT_TRUE(keyval.set(task, std::move(made)));
  return arena;
}

TEST(TasksTest, LibrariesCacheOnTasks) {
  std::mutex mutex;
  std::vector<std::string> paths;
  {
    Runtime runtime(2);
    const auto trace = *Keyval<Trace>::create_with<Trace>(runtime.kind());
    const auto arena =
        *Keyval<Arena>::create(runtime.kind(), attrcache::copy_nothing, attrcache::destroy);
    ASSERT_TRUE(trace.set(runtime.root(), new Trace{"root"}));
    arena_of(runtime.root(), arena).bytes = "of the root";

    auto work = [&](Task& task) {
      trace.get(task)->path += "child";
      arena_of(task, arena).bytes += "first";
      EXPECT_EQ(arena_of(task, arena).bytes, "first");
      ASSERT_TRUE(task.runtime->start(task, [&](Task& grandchild) {
        EXPECT_EQ(arena.get(grandchild), nullptr);
        const std::lock_guard lock(mutex);
        paths.push_back(trace.get(grandchild)->path);
      }));
    };
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(runtime.start(runtime.root(), work));
    runtime.wait();
    EXPECT_EQ(runtime.counters().attributes, 2u);  // those of the root
  }
  EXPECT_EQ(paths, std::vector<std::string>(100, "root/child/"));
  EXPECT_EQ(Arena::alive, 0);
}

TEST(TasksTest, ACopyCallbackMayKeepATaskFromStarting) {
  Runtime runtime(1);
  const auto limit = *Keyval<int>::create(
      runtime.kind(),
      [](int* depth) -> Copied<int> {
        return *depth > 0 ? Copied<int>(new int(*depth - 1)) : Copied<int>::fail(1);
      },
      attrcache::destroy);
  ASSERT_TRUE(limit.set(runtime.root(), new int(2)));
  std::atomic<int> started{0};
  std::function<void(Task&)> recurse = [&](Task& task) {
    ++started;
    task.runtime->start(task, recurse);
  };
  EXPECT_TRUE(runtime.start(runtime.root(), recurse));
  runtime.wait();
  EXPECT_EQ(started, 2);
}

// What many tasks read while another thread replaces it: borrowed, it stays.
TEST(TasksTest, ASharedSettingIsReplacedUnderItsReaders) {
  struct Setting {
    explicit Setting(int value) : value(value), check(~value) {}
    ~Setting() { value = check = 0; }
    int value, check;
  };
  Runtime runtime(2);
  const auto setting =
      *Keyval<Setting>::create(runtime.kind(), attrcache::copy_nothing, attrcache::destroy);
  ASSERT_TRUE(setting.set(runtime.root(), new Setting(0)));
  std::atomic<int> read{0};
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(runtime.start(runtime.root(), [&](Task&) {
      for (int j = 0; j < 100; ++j) {
        // Absent while a replaced one is being destroyed.
        if (const auto held = setting.borrow(runtime.root())) {
          EXPECT_EQ(held->check, ~held->value);
          ++read;
        }
      }
    }));
    ASSERT_TRUE(setting.set(runtime.root(), new Setting(i)));
  }
  runtime.wait();
  EXPECT_GT(read, 0);
}

}  // namespace
