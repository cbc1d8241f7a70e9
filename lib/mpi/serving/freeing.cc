// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/serving/freeing.h"

#include <algorithm>

namespace attrcache::mpi {
namespace {

// The calls that are going on, the innermost last, and some that an error handler has left. They
// aren't kept on the stack, which may be used again then. Calls nested deeper than kMost aren't
// kept; they do what MPI does with a late attribute.
constexpr int kMost = 16;
constinit thread_local Freeing calls[kMost] = {};
constinit thread_local int depth = 0;

}  // namespace

Freeing* find_freeing(int kind, uintptr_t key) {
  for (int i = depth; i-- > 0;) {
    if (calls[i].kind == kind && calls[i].key == key) return &calls[i];
  }
  return nullptr;
}

bool begins_callbacks_again(int kind, uintptr_t key) {
  bool again = false;
  for (int i = 0; i < depth; ++i) {
    if (calls[i].kind == kind && calls[i].key == key) again |= calls[i].in_callbacks;
  }
  if (Freeing* const innermost = find_freeing(kind, key)) innermost->in_callbacks = true;
  return again;
}

Anchor* end_freeing(Freeing* left) {
  Anchor* const late = left->late;
  std::copy(left + 1, calls + depth, left);
  --depth;
  return late;
}

FreeingCall::FreeingCall(int kind, uintptr_t key) {
  Anchor* late = nullptr;
  for (int i = depth; i-- > 0;) {
    const bool same = calls[i].kind == kind && calls[i].key == key;
    // Nothing that is called from a function is at a higher address. (On a stack of their own they
    // may be: then these records are lost, and a late attribute is never deleted, as natively.)
    if (calls[i].place.address > this && ((!same && depth < kMost) || calls[i].place.lives()))
      continue;
    Anchor* const left = end_freeing(&calls[i]);
    if (same && left != nullptr) late = left;
  }
  if (depth < kMost)
    calls[depth++] = {kind, key, false, false, late, {this, __builtin_return_address(0)}};
}

FreeingCall::~FreeingCall() {
  while (depth > 0 && calls[depth - 1].place.address <= this) --depth;
}

Anchor* FreeingCall::late() const {
  for (int i = depth; i-- > 0;) {
    if (calls[i].place.address == this) return calls[i].late;
  }
  return nullptr;
}

}  // namespace attrcache::mpi
