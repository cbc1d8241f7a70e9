// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The model's memory allocator. Each thread has an arena of its own, from which nothing is handed
// out twice within an execution, so that addresses don't depend on the interleaving and an access
// to released memory is recognised. Besides, an access by one thread must be ordered, by
// happens-before, after the allocation by another and before the release by another, whichever of
// them the interleaving happens to put first.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_HEAP_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/model/explorer/view.h"

namespace attrcache::model {

class Heap {
 public:
  // A thread, or the program before and after its threads run (which sees all and is seen by all).
  static constexpr unsigned kProgram = kMaxThreads;

  Heap();
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  void begin();

  // Of `view`, only the clocks matter; null for the program.
  void* allocate(size_t bytes, unsigned thread, const View* view);
  // Null, or what is wrong with it.
  const char* release(void* memory, unsigned thread, const View* view);
  // Null, or what is wrong with an access to that block by a thread.
  const char* access(uint16_t block, unsigned thread, const View* view);

  // The block that an address lies in; 0: it isn't the heap's, kNobodys: it is, but in no block.
  static constexpr uint16_t kNobodys = 0xffff;
  uint16_t block_of(const void* address) const;

  unsigned not_released() const { return live_; }

 private:
  static constexpr size_t kArena = 512 * 1024;
  static constexpr size_t kGrain = 64;
  static constexpr unsigned kArenas = kMaxThreads + 1;

  struct Block {
    size_t offset;
    size_t bytes;
    uint16_t accessed[kMaxThreads];  // the clock of each thread's last access
    uint16_t allocated_at;
    uint8_t allocated_by;
    bool released;
  };

  char* base_;
  size_t used_[kArenas] = {};
  std::vector<uint16_t> owner_;  // of each grain
  std::vector<Block> blocks_;
  unsigned live_ = 0;
};

Heap& heap();

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_HEAP_H_
