// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The main program that takes times. It runs a contender's operations under Google Benchmark, named
//
//   CONTENDER/OPERATION[/same or /different]
//
// A time is wall-clock time per operation of all threads together. The counter `undisturbed` is the
// same for the undisturbed slices (see slices.h), or 0 where there are too few of them: Google
// Benchmark's CSV wants the same counters in each run.

#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "bench/harness/idle_thread.h"
#include "bench/harness/operation.h"
#include "bench/harness/slices.h"

namespace {

constexpr long kBatch = 1000;

// Keeps the calling thread on one processor. Threads that are measured together get one each.
// Otherwise the scheduler may start two of them on the same processor, which looks like contention
// in a run of a few milliseconds.
class Pinned {
 public:
  // Pins to the processor with this number, counted from 0 among those that the process may use.
  // Does nothing if the process has fewer, or if the number is negative.
  explicit Pinned(int number) {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    if (number < 0 || number >= CPU_COUNT(&before_)) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_) || number-- != 0) continue;
      CPU_SET(cpu, &one);
      pinned_ = sched_setaffinity(0, sizeof one, &one) == 0;
      return;
    }
  }
  ~Pinned() {
    if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_;
  bool pinned_ = false;
};

// What the threads of one run share. The first thread prepares the operation, the last one ends it.
class Run {
 public:
  Run(const bench::Contender& contender, const bench::Operation& operation,
      const bench::Parameters& parameters)
      : contender_(contender), operation_(operation), parameters_(parameters) {}

  void operator()(benchmark::State& state) {
    const int processors = static_cast<int>(std::thread::hardware_concurrency());
    const int thread = state.thread_index();
    const bool spread = parameters_.threads > 1 && parameters_.threads <= processors;
    const Pinned pinned(spread ? thread : -1);
    auto registration = enter();
    prepared_->enter(thread);
    if (parameters_.threads <= processors) {
      bench::Slices::Clock clock(*slices_, thread);
      while (state.KeepRunningBatch(kBatch)) {
        if (!prepared_->repeat(thread, kBatch)) state.SkipWithError("an operation failed");
        clock.turn();
      }
    } else {
      while (state.KeepRunningBatch(kBatch)) {
        if (!prepared_->repeat(thread, kBatch)) state.SkipWithError("an operation failed");
      }
    }
    state.SetItemsProcessed(state.iterations());
    leave(std::move(registration), state);
  }

 private:
  std::shared_ptr<void> enter() {
    const std::lock_guard hold(mutex_);
    auto registration = contender_.register_thread();
    if (inside_++ == 0) {
      prepared_ = operation_.prepare(parameters_);
      slices_.emplace(parameters_.threads);
    }
    return registration;
  }
  void leave(std::shared_ptr<void>, benchmark::State& state) {
    const std::lock_guard hold(mutex_);
    if (--inside_ != 0) return;
    prepared_.reset();
    state.counters["undisturbed"] = std::max(slices_->turn(), 0.0) / kBatch;
  }

  const bench::Contender& contender_;
  const bench::Operation& operation_;
  const bench::Parameters parameters_;
  std::mutex mutex_;
  int inside_ = 0;
  std::unique_ptr<bench::PreparedOperation> prepared_;
  std::optional<bench::Slices> slices_;
};

void add(const bench::Contender& contender, const bench::Operation& operation,
         const bench::Parameters& parameters, const std::string& suffix) {
  auto run = std::make_shared<Run>(contender, operation, parameters);
  benchmark::RegisterBenchmark((contender.name + "/" + operation.name + suffix).c_str(),
                               [run](benchmark::State& state) { (*run)(state); })
      ->Threads(parameters.threads)
      ->UseRealTime();
}

// On one thread; then with a thread for each processor, and with four for each.
void add_all(const bench::Contender& contender) {
  const int cores = std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
  for (const bench::Operation& operation : contender.operations) {
    add(contender, operation, operation.parameters, "");
    // One of the gets stands for all, because none of them writes more than another.
    if (operation.name.rfind("get", 0) == 0 && operation.name != "get_hit") continue;
    for (const int threads : {cores, 4 * cores}) {
      if (threads > contender.limits.threads) continue;
      bench::Parameters parameters = operation.parameters;
      parameters.threads = threads;
      if (contender.shares(operation)) add(contender, operation, parameters, "/same");
      parameters.same_object = false;
      add(contender, operation, parameters, "/different");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Contender contender = bench::make_contender(&argc, argv);
  const bench::IdleThread idle_thread(contender.limits.threads > 1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  add_all(contender);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  const auto registration = contender.register_thread();
  contender.end();
}
