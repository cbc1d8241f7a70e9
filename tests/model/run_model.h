// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Runs a model, and prints how many executions there were.

#ifndef ATTRCACHE_TESTS_MODEL_RUN_MODEL_H_
#define ATTRCACHE_TESTS_MODEL_RUN_MODEL_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/model/explorer/explore.h"
#include "tests/model/explorer/sites.h"
#include "tests/model/fixture.h"
#include "tests/support/processors.h"

namespace attrcache::model {

// How far a model is explored: completely, or up to this many preemptions and stale reads.
struct Bound {
  unsigned preemptions = kUnlimited;
  unsigned stale_reads = kUnlimited;
  bool only_first = false;      // only the first thread is preempted
  bool gradual_fences = false;  // see Options
};

// Explores all executions within the bound; none may fail. If the environment variable
// ATTRCACHE_MODEL_REPLAY is set to the replay string of a failure, only that execution runs; select
// the one test that failed. ATTRCACHE_MODEL_DEEPER=N raises each bound by N; each step takes some
// ten times as long.
template <typename Program>
void run_model(Bound bound, Program program, bool first_may_stop = false) {
  Options options;
  const char* const deeper = std::getenv("ATTRCACHE_MODEL_DEEPER");
  for (unsigned* limit : {&bound.preemptions, &bound.stale_reads}) {
    if (deeper != nullptr && *limit != kUnlimited)
      *limit += static_cast<unsigned>(std::strtoul(deeper, nullptr, 10));
  }
  options.preemption_bound = bound.preemptions;
  options.stale_bound = bound.stale_reads;
  options.only_first_is_preempted = bound.only_first;
  options.first_may_stop = first_may_stop;
  options.gradual_fences = bound.gradual_fences;
  options.max_steps = 30000;
  options.replay = std::getenv("ATTRCACHE_MODEL_REPLAY");
  const auto start = std::chrono::steady_clock::now();
  const Result result = explore(options, program);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  char within[48] = "no bound";
  if (bound.stale_reads != kUnlimited) {
    std::snprintf(within, sizeof(within), "bound %u, %u stale", bound.preemptions,
                  bound.stale_reads);
  } else if (bound.preemptions != kUnlimited) {
    std::snprintf(within, sizeof(within), "bound %u", bound.preemptions);
  }
  std::printf("model %s.%s: %llu executions (%llu pruned), %s, %s, %.1f s\n",
              test->test_suite_name(), test->name(),
              static_cast<unsigned long long>(result.executions),
              static_cast<unsigned long long>(result.pruned), within,
              result.exhaustive ? "exhaustive" : "NOT exhaustive", took.count());
  sites::dump(test->test_suite_name(), test->name());
  EXPECT_EQ(result.failure, "") << "replay: " << result.replay;
  if (options.replay == nullptr && result.failure.empty()) {
    EXPECT_TRUE(result.exhaustive);
  }
}

// The same for threads that do something with a Shared, which `prepare` prepares, and which checks
// itself in the end.
template <typename Shared, typename Prepare, typename... Threads>
void run_race(Bound bound, Prepare prepare, Threads... threads) {
  run_model(bound, [=] {
    Shared shared;
    prepare(shared);
    spawn_each(shared, threads...);
    join();
    shared.finish();
  });
}
constexpr auto nothing = [](auto&) {};

// The same for a model of the C API: `threads(fixture)` prepares the fixture and spawns threads.
template <typename Threads>
void run_with_fixture(Bound bound, Threads threads, unsigned stripes = 1, unsigned flags = 0) {
  run_model(bound, [&] {
    Fixture fixture(stripes, flags);
    threads(fixture);
    join();
    fixture.finish();
  });
}

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_RUN_MODEL_H_
