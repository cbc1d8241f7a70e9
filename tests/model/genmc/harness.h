// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What harnesses for GenMC are written with. GenMC explores all executions of the shipped headers
// of lib/ under RC11, the C++ memory model without values out of thin air. Each harness has some
// scenarios: functions whose names genmc_test.py lists. GenMC finds races of plain accesses, failed
// assertions, and accesses to freed memory. It supports no copies of structures and no memset, so
// threads share variables of the file.

#ifndef ATTRCACHE_TESTS_MODEL_GENMC_HARNESS_H_
#define ATTRCACHE_TESTS_MODEL_GENMC_HARNESS_H_

#include <cstdint>

#include "platform/wait.h"

// GenMC's own functions.
extern "C" {
void __VERIFIER_assume(bool) noexcept;
void __VERIFIER_assert_fail(const char*, const char*, int) noexcept;
long __VERIFIER_thread_create(const void*, void* (*)(void*), void*) noexcept;
void* __VERIFIER_thread_join(long) noexcept;
}

namespace attrcache {

// An execution in which a thread would wait is dropped: what it waits for comes in another
// execution, in which it doesn't wait.
inline void Backoff::relax() { __VERIFIER_assume(false); }

namespace genmc {

inline void expect(bool condition) {
  if (!condition) __VERIFIER_assert_fail("expect", __FILE__, __LINE__);
}

// Runs the bodies, each in a thread of its own, to their ends.
inline void run() {}
template <typename Body, typename... Others>
void run(const Body& body, const Others&... others) {
  const auto call = [](void* b) -> void* {
    (*static_cast<const Body*>(b))();
    return nullptr;
  };
  const long thread = __VERIFIER_thread_create(nullptr, call, const_cast<Body*>(&body));
  run(others...);
  __VERIFIER_thread_join(thread);
}

}  // namespace genmc
}  // namespace attrcache

// Runs -DSCENARIO=NAME.
#define ATTRCACHE_GENMC_MAIN \
  int main() { attrcache::genmc::SCENARIO(); }

#endif  // ATTRCACHE_TESTS_MODEL_GENMC_HARNESS_H_
