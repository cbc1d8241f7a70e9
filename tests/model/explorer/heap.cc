// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/explorer/heap.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace attrcache::model {

Heap the_heap;

Heap::Heap() : owner_(kArenas * kArena / kGrain) {
  void* memory =
      mmap(nullptr, kArenas * kArena, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  base_ = static_cast<char*>(memory);
  blocks_.reserve(1024);
}

Heap::~Heap() { munmap(base_, kArenas * kArena); }

void Heap::begin() {
  for (unsigned a = 0; a < kArenas; ++a) {
    std::memset(&owner_[a * (kArena / kGrain)], 0, used_[a] / kGrain * sizeof(uint16_t));
    used_[a] = 0;
  }
  blocks_.resize(1);  // block 0: none
  live_ = 0;
}

void* Heap::allocate(size_t bytes, unsigned thread, const View* view) {
  // A grain after each block belongs to none, so that small overruns are found.
  const size_t taken = (bytes + kGrain - 1) / kGrain * kGrain + kGrain;
  if (used_[thread] + taken > kArena) std::abort();
  const size_t offset = thread * kArena + used_[thread];
  used_[thread] += taken;
  const auto index = static_cast<uint16_t>(blocks_.size());
  Block block = {};
  block.offset = offset;
  block.allocated_by = static_cast<uint8_t>(thread);
  block.allocated_at = view != nullptr ? view->at[thread] : uint16_t{0};
  blocks_.push_back(block);
  for (size_t g = 0; g < (bytes + kGrain - 1) / kGrain; ++g) owner_[offset / kGrain + g] = index;
  ++live_;
  return std::memset(base_ + offset, 0, bytes);
}

const char* Heap::release(void* memory, unsigned thread, const View* view) {
  const uint16_t index = block_of(memory);
  if (index == 0 || index == kNobodys || base_ + blocks_[index].offset != memory)
    return "release of what is no block";
  Block& block = blocks_[index];
  if (block.released) return "memory released twice";
  if (const char* error = access(index, thread, view)) return error;
  if (view != nullptr) {
    for (unsigned t = 0; t < kMaxThreads; ++t) {
      if (t != thread && view->at[t] < block.accessed[t]) {
        return "release of memory to which another thread's access does not happen before";
      }
    }
  }
  block.released = true;
  --live_;
  return nullptr;
}

}  // namespace attrcache::model
