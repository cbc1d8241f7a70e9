// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Stacks to run threads of a model on, all within one thread of the operating system. A fiber that
// is left in the middle is simply started anew: nothing on its stack is destroyed, so what runs on
// one must own no memory but the model's own.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_FIBER_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_FIBER_H_

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace attrcache::model {

class Fiber {
 public:
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Makes it ready to run body(argument), which must never return.
  void prepare(void (*body)(void*), void* argument);

  // Leaves the running context in `from` and goes on in `to`.
  static void transfer(Fiber& from, Fiber& to);

 private:
  static constexpr size_t kStackSize = 128 * 1024;
  void* stack_ = nullptr;  // none: the context of the operating system's thread
#if defined(__x86_64__)
  void* top_ = nullptr;  // where its registers were saved
#else
  static void enter();
  ucontext_t context_ = {};
#endif
};

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_FIBER_H_
