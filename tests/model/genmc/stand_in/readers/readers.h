// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// In place of lib/readers/readers.h, whose records are allocated: for each of two threads, which
// are full readers, a cell to hold a value and one to wait for the end of a set. Whether a wait
// ends is GenMC's business.

#ifndef ATTRCACHE_TESTS_MODEL_GENMC_STAND_IN_READERS_H_
#define ATTRCACHE_TESTS_MODEL_GENMC_STAND_IN_READERS_H_

#include "platform/asymmetric_fence.h"
#include "platform/wait.h"
#include "readers/announcement.h"

namespace attrcache {

inline bool kernel_fence_ready() { return false; }
inline void kernel_fence() {}

class Threads {
 public:
  void wait(Backoff& backoff) const { backoff.relax(); }
};

class Readers {
 public:
  void announce(unsigned thread, const Pair& slot, Says says, uint64_t meta) {
    cells_[thread].meta.store(meta, kRelaxed);
    fence().announce(cells_[thread].what, Announcement::of(&slot, says));
  }
  void withdraw(unsigned thread) { retract(cells_[thread]); }
  static void retract(Announcement& cell) {
    AsymmetricFence::announce<AsymmetricFence::Of::kLight>(cell.what,
                                                           static_cast<uintptr_t>(Says::kTaken));
  }
  Announcement& announce_wait(unsigned thread, const Pair& slot, uint64_t meta) {
    Announcement& cell = waits_[thread];
    cell.meta.store(meta, kRelease);
    AsymmetricFence::announce<AsymmetricFence::Of::kFull>(
        cell.what, Announcement::of(&slot, Says::kAwaitsToBorrow));
    return cell;
  }
  void heavy_fence() const { fence().heavy_fence(); }
  // Without loops over the cells: GenMC makes what is asked of the result a condition of the
  // execution, and refuses one in which it finds the address of a variable.
  template <typename Visit>
  bool any(Visit visit) {
    return look(cells_[0], visit) || look(cells_[1], visit) || any_wait(visit);
  }
  template <typename Visit>
  bool any_wait(Visit visit) {
    return look(waits_[0], visit) || look(waits_[1], visit);
  }
  Threads threads() const { return {}; }
  void wake(const Pair&) {}

 private:
  static AsymmetricFence fence() { return AsymmetricFence(true); }
  template <typename Visit>
  static bool look(Announcement& cell, Visit visit) {
    const uintptr_t what = fence().look(cell.what);
    return Announcement::is_about_any(what) && visit(cell, what);
  }

  Announcement cells_[2];
  Announcement waits_[2];
};

}  // namespace attrcache

#endif  // ATTRCACHE_TESTS_MODEL_GENMC_STAND_IN_READERS_H_
