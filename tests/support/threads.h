// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Threads that start together, and ways to wait for each other. Nothing here sleeps for a fixed
// time.

#ifndef ATTRCACHE_TESTS_SUPPORT_THREADS_H_
#define ATTRCACHE_TESTS_SUPPORT_THREADS_H_

#include <sched.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

namespace attrcache::support {

// Stress tests divide their rounds by this. ThreadSanitizer makes them about ten times slower, and
// so does qemu.
#if defined(__SANITIZE_THREAD__)
#define ATTRCACHE_TESTS_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ATTRCACHE_TESTS_UNDER_TSAN 1
#endif
#endif
#if defined(ATTRCACHE_TESTS_UNDER_TSAN) || defined(ATTRCACHE_TESTS_EMULATED)
inline constexpr int kSlowness = 10;
#else
inline constexpr int kSlowness = 1;
#endif
inline constexpr int kThreads = 4;

// Runs body(t) in `count` threads that start together, and joins them.
template <typename Body>
void run_threads(int count, Body body) {
  std::barrier<> start(count);
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&start, &body, t] {
      start.arrive_and_wait();
      body(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Threads wait at a gate until another one opens it.
class Gate {
 public:
  void open() {
    open_.store(true, std::memory_order_release);
    open_.notify_all();
  }
  void wait() const { open_.wait(false, std::memory_order_acquire); }
  bool is_open() const { return open_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> open_{false};
};

// Lets other threads run until a condition holds.
template <typename Condition>
void wait_until(Condition condition) {
  while (!condition()) sched_yield();
}

// Random numbers. Each thread has its own.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(engine_() % bound); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_SUPPORT_THREADS_H_
