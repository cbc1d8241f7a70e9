// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What many threads cost where there are few processors: the processor time of an operation with two
// threads and with 64, each on an object of its own. Processor time, because 64 threads share the
// processors with each other and with whatever else runs. The least of several rounds, which are
// interleaved.
//
//   bazel run -c opt //bench:attrcache_crowd

#include <attrcache/attrcache.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <thread>
#include <vector>

namespace {

constexpr int kFew = 2;
constexpr int kMany = 64;
constexpr long kOperations[] = {100000000, 20000000, 10000000};  // of all threads together
constexpr int kRounds = 5;

enum class Operation { kGet, kSet, kSetDelete };
constexpr const char* kNames[] = {"get", "set", "set_delete"};

void require(bool done) {
  if (!done) std::abort();
}

double processor_time_of_this_thread() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void work(attrcache_kind* kind, int keyval, Operation operation, long times, double* taken) {
  alignas(64) attrcache_table table = ATTRCACHE_TABLE_INIT;
  const auto set = [&](long value) {
    require(attrcache_set(kind, &table, nullptr, keyval, value, ATTRCACHE_AS_POINTER, nullptr) ==
            ATTRCACHE_OK);
  };
  set(1);
  const double start = processor_time_of_this_thread();
  for (long i = 0; i < times; ++i) {
    if (operation == Operation::kGet) {
      void* value;
      require(attrcache_get(kind, &table, keyval, &value) == ATTRCACHE_OK);
      continue;
    }
    set(i);
    if (operation == Operation::kSetDelete)
      require(attrcache_delete(kind, &table, nullptr, keyval, nullptr) == ATTRCACHE_OK);
  }
  *taken = processor_time_of_this_thread() - start;
  require(attrcache_delete_all(kind, &table, nullptr, ATTRCACHE_DRAIN, nullptr) == ATTRCACHE_OK);
}

// Nanoseconds of processor time per operation.
double measure(attrcache_kind* kind, int keyval, Operation operation, int threads) {
  const long times = kOperations[static_cast<int>(operation)];
  std::vector<std::thread> running;
  std::vector<double> taken(threads);
  for (int t = 0; t < threads; ++t)
    running.emplace_back(work, kind, keyval, operation, times / threads, &taken[t]);
  for (std::thread& thread : running) thread.join();
  return std::accumulate(taken.begin(), taken.end(), 0.0) / static_cast<double>(times);
}

}  // namespace

int main() {
  std::printf("%-12s %8s %12s %12s %8s\n", "operation", "stripes", "2 threads ns", "64 threads ns",
              "speed");
  for (const unsigned stripes : {0u, 64u}) {
    attrcache_domain_options options = {};
    options.stripes = stripes;
    attrcache_domain* domain;
    require(attrcache_domain_create(&options, &domain) == ATTRCACHE_OK);
    attrcache_kind* kind = attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR);
    int keyval;
    require(attrcache_keyval_create(kind, nullptr, &keyval) == ATTRCACHE_OK);
    for (const Operation operation : {Operation::kGet, Operation::kSet, Operation::kSetDelete}) {
      double few = 1e300, many = 1e300;
      for (int round = 0; round < kRounds; ++round) {
        few = std::min(few, measure(kind, keyval, operation, kFew));
        many = std::min(many, measure(kind, keyval, operation, kMany));
      }
      std::printf("%-12s %8s %12.2f %12.2f %7.0f%%\n", kNames[static_cast<int>(operation)],
                  stripes == 0 ? "default" : "64", few, many, 100 * few / many);
    }
    require(attrcache_keyval_free(kind, &keyval) == ATTRCACHE_OK);
    require(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, nullptr) == ATTRCACHE_OK);
  }
}
