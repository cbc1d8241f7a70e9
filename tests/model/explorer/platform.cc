// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What lib/platform gets from the explorer instead of the system: memory, threads, waiting, and the
// kernel's fence.

#include "platform/asymmetric_fence.h"
#include "platform/memory.h"
#include "platform/pair.h"
#include "platform/thread.h"
#include "platform/wait.h"
#include "tests/model/explorer/engine.h"

namespace attrcache {

void* allocate(size_t bytes) { return model::engine().allocate(bytes); }

void release(void* memory) { model::engine().release(memory); }

bool pair_supported() { return true; }

bool is_taken(unsigned) { return true; }

ThreadState& this_thread() { return model::engine().thread_state(); }

bool kernel_fence_ready() { return true; }

void kernel_fence() { model::engine().heavy_fence(); }
void full_fence() { model::engine().full_fence(); }

void Backoff::relax() {
  ++round_;
  model::engine().wait();
}

}  // namespace attrcache
