// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The model's memory allocator. Each thread has an arena of its own, and within an execution no
// address of it is handed out twice. So addresses don't depend on the interleaving, and an access
// to released memory is recognised. The heap also checks the order: an access must happen after the
// allocation and before the release of its block, in the sense of happens-before, whatever the
// order in which the interleaving runs them.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_HEAP_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/model/explorer/types.h"

namespace attrcache::model {

class Heap {
 public:
  // Whatever allocates or accesses: a thread, or the program before and after its threads, which
  // happens before or after everything that they do.
  static constexpr unsigned kProgram = kMaxThreads;

  Heap();
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  void begin();

  // Only the clocks of `view` matter. It is null for the program.
  void* allocate(size_t bytes, unsigned thread, const View* view);
  // Releases a block. Returns null, or what is wrong with the release.
  const char* release(void* memory, unsigned thread, const View* view);
  // Returns null, or what is wrong with an access to that block by a thread.
  const char* access(uint16_t block, unsigned thread, const View* view);

  // The block that an address lies in; 0 if it isn't in the heap, kNobodys if it is, but in no
  // block.
  static constexpr uint16_t kNobodys = 0xffff;
  uint16_t block_of(const void* address) const;

  unsigned not_released() const { return live_; }

 private:
  static constexpr size_t kArena = 16 * 1024 * 1024;
  static constexpr size_t kGrain = 64;
  static constexpr unsigned kArenas = kMaxThreads + 1;

  struct Block {
    size_t offset;
    uint16_t accessed[kMaxThreads];  // the clock of each thread's last access
    uint16_t allocated_at;
    uint8_t allocated_by;
    bool released;
  };

  char* base_;
  size_t used_[kArenas] = {};
  std::vector<uint16_t> owner_;  // the block that each grain belongs to
  std::vector<Block> blocks_;
  unsigned live_ = 0;
};

inline uint16_t Heap::block_of(const void* address) const {
  const auto offset = static_cast<size_t>(static_cast<const char*>(address) - base_);
  if (offset >= kArenas * kArena) return 0;
  const uint16_t owner = owner_[offset / kGrain];
  return owner != 0 ? owner : kNobodys;
}

inline const char* Heap::access(uint16_t index, unsigned thread, const View* view) {
  if (index == 0) return nullptr;
  if (index == kNobodys) return "access to memory that was never allocated";
  Block& block = blocks_[index];
  if (block.released) return "access to released memory";
  if (view == nullptr) return nullptr;
  const unsigned by = block.allocated_by;
  if (by != kProgram && by != thread && view->at[by] < block.allocated_at) {
    return "access to memory whose allocation does not happen before";
  }
  block.accessed[thread] = view->at[thread];
  return nullptr;
}

extern Heap the_heap;
inline Heap& heap() { return the_heap; }

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_HEAP_H_
