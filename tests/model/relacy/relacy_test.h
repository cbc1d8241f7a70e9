// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How the models in Relacy are run: the protocols of lib/, written down once more by hand, under
// an explorer that isn't ours. It checks what the models of tests/model check on the real code, so
// that an error of theirs would have to be made twice.
//
// A model is a class with before(), thread(index) and after(). Relacy looks for races on
// rl::var, for accesses to freed memory, leaks, livelocks, and failed RL_ASSERTs.

#ifndef ATTRCACHE_TESTS_MODEL_RELACY_RELACY_TEST_H_
#define ATTRCACHE_TESTS_MODEL_RELACY_RELACY_TEST_H_

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>

// Last: it makes `new` and `delete` its own.
#include <relacy/relacy.hpp>

namespace attrcache::relacy {

enum class Expect { kSound, kBroken };  // broken: Relacy must find it

// Runs so many random executions of Model, or those until one fails.
template <typename Model>
bool check(const char* name, unsigned executions, Expect expected = Expect::kSound) {
  // Not into a string: what it allocates inside an execution is Relacy's, outside it isn't.
  std::ostream nowhere(nullptr);
  std::ostream& log = std::getenv("ATTRCACHE_RELACY_LOG") != nullptr ? std::cout : nowhere;
  rl::test_params params;
  params.iteration_count = executions;
  params.search_type = rl::random_scheduler_type;
  params.output_stream = &log;
  params.progress_stream = &log;
  const auto start = std::chrono::steady_clock::now();
  const bool held = rl::simulate<Model>(params);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("relacy %s: %llu executions, %s, %.1f s\n", name,
              static_cast<unsigned long long>(params.stop_iteration),
              held ? "nothing found" : rl::test_result_str(params.test_result), took.count());
  if (held == (expected == Expect::kSound)) return true;
  std::printf("  not what was expected; ATTRCACHE_RELACY_LOG=1 prints the execution\n");
  return false;
}

}  // namespace attrcache::relacy

#endif  // ATTRCACHE_TESTS_MODEL_RELACY_RELACY_TEST_H_
