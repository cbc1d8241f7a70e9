// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// An idle thread, for as long as the guard lives. While a process has only one thread, the C
// library leaves out locked instructions, so the costs measured would be lower than in a threaded
// program.

#ifndef BENCH_HARNESS_IDLE_THREAD_H_
#define BENCH_HARNESS_IDLE_THREAD_H_

#include <future>
#include <thread>

namespace bench {

class IdleThread {
 public:
  explicit IdleThread(bool wanted) {
    if (wanted) thread_ = std::thread([over = over_.get_future()] { over.wait(); });
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
