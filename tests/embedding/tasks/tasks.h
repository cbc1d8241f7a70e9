// SPDX-License-Identifier: Apache-2.0
//
// A runtime that isn't an MPI: tasks that start tasks, on a few threads. Tasks are a kind of object
// of their own; whoever uses the runtime may cache on them what it likes. A new task gets copies of
// its parent's attributes, as far as their copy callbacks let them pass; a task that ends deletes
// its own.

#ifndef ATTRCACHE_TESTS_EMBEDDING_TASKS_TASKS_H_
#define ATTRCACHE_TESTS_EMBEDDING_TASKS_TASKS_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "attrcache/attrcache.hpp"

namespace tasks {

class Runtime;

struct Task {
  uint64_t number = 0;
  std::function<void(Task&)> work;
  Runtime* runtime = nullptr;
  attrcache_table attributes = {};
};

template <typename T>
using Keyval = attrcache::Keyval<T, Task>;

class Runtime {
 public:
  explicit Runtime(unsigned threads)
      : domain_(*attrcache::Domain::create()), kind_(*domain_.add_kind<Task>("task")) {
    root_.runtime = this;
    for (unsigned t = 0; t < threads; ++t) {
      threads_.emplace_back([this] { serve(); });
    }
  }

  // Waits for all tasks.
  ~Runtime() {
    wait();
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    static_cast<void>(kind_.drain(root_));
  }

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  attrcache::Kind<Task> kind() const { return kind_; }
  attrcache_counters counters() const { return domain_.counters(); }

  // The parent of those that no task starts.
  Task& root() { return root_; }

  // Starts a task; false if a copy callback refuses, and then nothing was started.
  bool start(Task& parent, std::function<void(Task&)> work) {
    auto task = std::make_unique<Task>();
    task->work = std::move(work);
    task->runtime = this;
    if (!kind_.copy_all(parent, *task)) return false;
    {
      const std::lock_guard lock(mutex_);
      task->number = ++started_;
      ready_.push_back(std::move(task));
    }
    changed_.notify_all();
    return true;
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ == started_; });
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !ready_.empty(); });
      if (ready_.empty()) return;
      const std::unique_ptr<Task> task = std::move(ready_.front());
      ready_.pop_front();
      lock.unlock();
      task->work(*task);
      // Nobody else knows this task any more; what its callbacks say is for the log of a larger
      // one.
      static_cast<void>(kind_.drain(*task));
      lock.lock();
      ++ended_;
      changed_.notify_all();
    }
  }

  attrcache::Domain domain_;
  attrcache::Kind<Task> kind_;
  Task root_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Task>> ready_;
  uint64_t started_ = 0;
  uint64_t ended_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tasks

#endif  // ATTRCACHE_TESTS_EMBEDDING_TASKS_TASKS_H_
