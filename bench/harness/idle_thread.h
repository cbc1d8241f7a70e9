// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// An idle thread, for as long as the guard lives. While a process has only one thread, the C
// library leaves out locked instructions, so the costs measured would be lower than in a threaded
// program. It may do something first, which has been done when the guard is made.

#ifndef BENCH_HARNESS_IDLE_THREAD_H_
#define BENCH_HARNESS_IDLE_THREAD_H_

#include <future>
#include <thread>

namespace bench {

class IdleThread {
 public:
  explicit IdleThread(bool wanted, void (*first)() = nullptr) {
    if (!wanted) return;
    std::promise<void> ready;
    thread_ = std::thread([&ready, first, over = over_.get_future()] {
      if (first != nullptr) first();
      ready.set_value();
      over.wait();
    });
    ready.get_future().wait();
  }
  ~IdleThread() {
    over_.set_value();
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::promise<void> over_;
  std::thread thread_;
};

}  // namespace bench

#endif  // BENCH_HARNESS_IDLE_THREAD_H_
