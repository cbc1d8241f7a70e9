// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A new stack's first frame is made by makecontext. From then on fibers switch by _setjmp and
// _longjmp, which make no system call.

// The checked longjmp of glibc knows only one stack.
#undef _FORTIFY_SOURCE

#include "tests/model/explorer/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdlib>

namespace attrcache::model {
namespace {

Fiber* entering;
ucontext_t creator;

}  // namespace

Fiber::~Fiber() {
  if (stack_ != nullptr) munmap(stack_, kStackSize);
}

void Fiber::enter() {
  Fiber& self = *entering;
  if (_setjmp(self.begin_) == 0) setcontext(&creator);
  self.body_(self.argument_);
}

void Fiber::prepare(void (*body)(void*), void* argument) {
  if (stack_ == nullptr) {
    stack_ = mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack_ == MAP_FAILED) std::abort();
    mprotect(stack_, 4096, PROT_NONE);  // an overflow faults
    ucontext_t first;
    getcontext(&first);
    first.uc_stack.ss_sp = stack_;
    first.uc_stack.ss_size = kStackSize;
    first.uc_link = nullptr;
    makecontext(&first, &Fiber::enter, 0);
    entering = this;
    swapcontext(&creator, &first);
  }
  body_ = body;
  argument_ = argument;
  at_ = &begin_;
}

void Fiber::transfer(Fiber& from, Fiber& to) {
  from.at_ = &from.left_;
  if (_setjmp(from.left_) == 0) _longjmp(*to.at_, 1);
}

}  // namespace attrcache::model
