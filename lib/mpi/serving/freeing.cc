// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/serving/freeing.h"

namespace attrcache::mpi {
namespace {

// The calls that are going on, the innermost last. They aren't kept on the stack, because an error
// handler may leave a call by longjmp. What such a call leaves here is recognized by its place on
// the stack: wherever MPI runs, nothing that is called further down is at a higher address. (A
// thread that frees objects on several stacks may lose a record; a late attribute is then never
// deleted, as without attrcache.) Calls nested deeper than kMost aren't kept; they do what MPI does
// with a late attribute.
constexpr int kMost = 16;
constinit thread_local Freeing calls[kMost] = {};
constinit thread_local int depth = 0;

void drop_left_over(const void* here) {
  while (depth > 0 && calls[depth - 1].frame <= here) --depth;
}

}  // namespace

Freeing* find_freeing(int kind, uintptr_t key) {
  if (depth == 0) return nullptr;
  drop_left_over(&kind);
  for (int i = depth; i-- > 0;) {
    if (calls[i].kind == kind && calls[i].key == key) return &calls[i];
  }
  return nullptr;
}

FreeingCall::FreeingCall(int kind, uintptr_t key) {
  drop_left_over(this);
  if (depth < kMost) calls[depth++] = {kind, key, false, nullptr, this};
}

FreeingCall::~FreeingCall() {
  if (depth > 0 && calls[depth - 1].frame == this) --depth;
}

Anchor* FreeingCall::late() const {
  return depth > 0 && calls[depth - 1].frame == this ? calls[depth - 1].late : nullptr;
}

}  // namespace attrcache::mpi
