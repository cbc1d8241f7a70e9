// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Runs a model, and prints how many executions there were.

#ifndef ATTRCACHE_TESTS_MODEL_RUN_MODEL_H_
#define ATTRCACHE_TESTS_MODEL_RUN_MODEL_H_

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/model/explorer/explore.h"
#include "tests/model/explorer/sites.h"
#include "tests/model/fixture.h"
#include "tests/support/processors.h"

namespace attrcache::model {

// A model says which cases it is about: each must come about in some execution.
inline std::map<std::string, bool> cases;
inline void reaches(const char* what, bool now) { cases[what] |= now; }

// Explores all executions within the bounds; none may fail. tests/README.md says what the two
// environment variables are for.
template <typename Program>
void run_model(Options options, Program program) {
  const char* const deeper = std::getenv("ATTRCACHE_MODEL_DEEPER");
  for (unsigned* limit : {&options.preemptions, &options.stale_reads}) {
    if (deeper != nullptr && *limit != kUnlimited)
      *limit += static_cast<unsigned>(std::strtoul(deeper, nullptr, 10));
  }
  options.replay = std::getenv("ATTRCACHE_MODEL_REPLAY");
  cases.clear();
  const Result result = explore(options, program);
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::printf("model %s.%s: %llu executions, %s\n", test->test_suite_name(), test->name(),
              static_cast<unsigned long long>(result.executions),
              result.exhaustive ? "exhaustive" : "NOT exhaustive");
  sites::dump(test->test_suite_name(), test->name());
  EXPECT_EQ(result.failure, "") << "replay: " << result.replay;
  if (options.replay == nullptr && result.failure.empty()) {
    EXPECT_TRUE(result.exhaustive);
    for (const auto& [what, reached] : cases) EXPECT_TRUE(reached) << what;
  }
}

// The same for threads that do something with a Shared, which `prepare` prepares, and which checks
// itself in the end.
template <typename Shared, typename Prepare, typename... Threads>
void run_race(const Options& options, Prepare prepare, Threads... threads) {
  run_model(options, [=] {
    Shared shared;
    prepare(shared);
    spawn_each(shared, threads...);
    join();
    shared.finish();
  });
}
constexpr auto nothing = [](auto&) {};

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_RUN_MODEL_H_
