// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// In place of lib/readers/readers.h, whose records are allocated: one cell for each of two threads,
// which are full readers. Who waits is told by GenMC.

#ifndef ATTRCACHE_TESTS_MODEL_GENMC_STAND_IN_READERS_H_
#define ATTRCACHE_TESTS_MODEL_GENMC_STAND_IN_READERS_H_

#include "platform/asymmetric_fence.h"
#include "readers/announcement.h"

namespace attrcache {

inline bool kernel_fence_ready() { return false; }
inline void kernel_fence() {}

class Readers {
 public:
  void announce(unsigned thread, const Pair& slot, Says says, uint64_t meta) {
    cells_[thread].meta.store(meta, kRelaxed);
    fence().announce(cells_[thread].what, Announcement::of(&slot, says));
  }
  void withdraw(unsigned thread) {
    AsymmetricFence::announce<AsymmetricFence::Of::kLight>(cells_[thread].what,
                                                           static_cast<uintptr_t>(Says::kTaken));
  }
  void heavy_fence() const { fence().heavy_fence(); }
  template <typename Visit>
  bool any(Visit visit) {
    for (Announcement& cell : cells_) {
      const uintptr_t what = fence().look(cell.what);
      if (Announcement::is_about_any(what) && visit(cell, what)) return true;
    }
    return false;
  }
  void wake(const Pair&) {}

 private:
  static AsymmetricFence fence() { return AsymmetricFence(true); }

  Announcement cells_[2];
};

}  // namespace attrcache

#endif  // ATTRCACHE_TESTS_MODEL_GENMC_STAND_IN_READERS_H_
