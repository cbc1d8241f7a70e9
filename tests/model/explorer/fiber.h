// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The stacks on which a model's threads run, all in one thread of the operating system. When an
// execution is given up, its fibers are left in the middle and later start anew: nothing on their
// stacks is destroyed. So what runs on a fiber must own no memory but that of the model's
// allocator.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_FIBER_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_FIBER_H_

#include <csetjmp>
#include <cstddef>

namespace attrcache::model {

class Fiber {
 public:
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Prepares the fiber to run body(argument), which must never return.
  void prepare(void (*body)(void*), void* argument);

  // Saves the running context in `from`, and goes on in `to`.
  static void transfer(Fiber& from, Fiber& to);

 private:
  static constexpr size_t kStackSize = 128 * 1024;
  static void enter();

  void* stack_ = nullptr;  // null for the context of the operating system's thread
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  std::jmp_buf begin_;  // in the stack's first frame, which is never left
  std::jmp_buf left_;   // where it was left
  std::jmp_buf* at_ = nullptr;
};

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_FIBER_H_
