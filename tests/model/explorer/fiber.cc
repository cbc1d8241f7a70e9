// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/explorer/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace attrcache::model {

Fiber::~Fiber() {
  if (stack_ != nullptr) munmap(stack_, kStackSize);
}

namespace {

void* map_stack(size_t size) {
  void* stack = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) std::abort();
  mprotect(stack, 4096, PROT_NONE);  // an overflow faults
  return stack;
}

}  // namespace

#if defined(__x86_64__)

// void switch_stacks(void** save, void* load): pushes what the calling convention has a callee
// keep, swaps stack pointers, pops the other's. A fresh fiber pops its body and argument into rbx
// and r12.
asm(R"(
.pushsection .text
.type attrcache_model_switch, @function
attrcache_model_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size attrcache_model_switch, . - attrcache_model_switch
.type attrcache_model_start, @function
attrcache_model_start:
  movq %r12, %rdi
  call *%rbx
  ud2
.size attrcache_model_start, . - attrcache_model_start
.popsection
)");
extern "C" void attrcache_model_switch(void** save, void* load);
extern "C" void attrcache_model_start();

void Fiber::prepare(void (*body)(void*), void* argument) {
  if (stack_ == nullptr) stack_ = map_stack(kStackSize);
  auto* top = reinterpret_cast<uintptr_t*>(static_cast<char*>(stack_) + kStackSize);
  *--top = 0;  // two words keep the stack aligned for the call in attrcache_model_start
  *--top = 0;
  *--top = reinterpret_cast<uintptr_t>(&attrcache_model_start);
  *--top = 0;                                      // rbp: ends backtraces
  *--top = reinterpret_cast<uintptr_t>(body);      // rbx
  *--top = reinterpret_cast<uintptr_t>(argument);  // r12
  for (int i = 0; i < 3; ++i) *--top = 0;          // r13 to r15
  top_ = top;
}

void Fiber::transfer(Fiber& from, Fiber& to) { attrcache_model_switch(&from.top_, to.top_); }

#else

namespace {
void (*starting_body)(void*);
void* starting_argument;
}  // namespace

void Fiber::enter() { starting_body(starting_argument); }

void Fiber::prepare(void (*body)(void*), void* argument) {
  if (stack_ == nullptr) stack_ = map_stack(kStackSize);
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_;
  context_.uc_stack.ss_size = kStackSize;
  context_.uc_link = nullptr;
  makecontext(&context_, &Fiber::enter, 0);
  // makecontext passes ints only: the fiber runs up to its body at once and waits there.
  Fiber here;
  struct Start {
    void (*body)(void*);
    void* argument;
    Fiber* self;
    Fiber* creator;
  } start = {body, argument, this, &here};
  starting_argument = &start;
  starting_body = [](void* given) {
    const Start copy = *static_cast<Start*>(given);
    transfer(*copy.self, *copy.creator);
    copy.body(copy.argument);
  };
  transfer(here, *this);
}

void Fiber::transfer(Fiber& from, Fiber& to) { swapcontext(&from.context_, &to.context_); }

#endif

}  // namespace attrcache::model
