// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// attrcache as it is on a machine with 64 processors or more, while 64 threads use it: references
// are counted in 64 stripes, and the threads that work have thread numbers beside 62 others.

#include <mutex>
#include <thread>
#include <vector>

#include "bench/contenders/attrcache.h"
#include "tests/support/processors.h"

namespace {

// Idle threads that have used attrcache, so that each keeps a thread number.
class Others {
 public:
  explicit Others(int count) : end_(until_the_end_) {
    for (int t = 0; t < count; ++t) threads_.emplace_back([this] { run(); });
    while (ready_.load() != count) std::this_thread::yield();
  }
  ~Others() {
    end_.unlock();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  // In a domain of their own, so that the measured keyvals are the first of their domain.
  void run() {
    attrcache_kind* const kind = bench::make_kind();
    int key;
    alignas(64) attrcache_table table = ATTRCACHE_TABLE_INIT;
    bench::require(attrcache_keyval_create(kind, nullptr, &key) == ATTRCACHE_OK, "create a key");
    bench::require(attrcache_set_as(kind, &table, nullptr, key, 1, ATTRCACHE_AS_POINTER, nullptr) ==
                       ATTRCACHE_OK,
                   "set");
    bench::require(
        attrcache_delete_all(kind, &table, nullptr, ATTRCACHE_DRAIN, nullptr) == ATTRCACHE_OK,
        "delete");
    ++ready_;
    const std::lock_guard<std::mutex> wait(until_the_end_);
  }

  std::atomic<int> ready_{0};
  std::mutex until_the_end_;
  std::unique_lock<std::mutex> end_;
  std::vector<std::thread> threads_;
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  attrcache::support::processors = 64;
  bench::Contender contender = describe_attrcache<attrcache_get>("attrcache_64");
  // The measuring program starts two more.
  static Others others(62);
  return contender;
}
