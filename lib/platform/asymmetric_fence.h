// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The fence between readers that announce what they read and the thread that looks for
// announcements:
//
//   a reader:   announce(cell, what)     the other:   change what readers look at (by an update)
//               look at what is there                 heavy_fence()
//                                                     look(cell)
//
// At least one of the two sees the other: the reader the change, or the other the announcement.
// (The shape is store buffering, so release and acquire are not enough.) Readers are many and
// announce often, so where the kernel can make all threads of the process execute a fence (Linux's
// membarrier), they pay for a plain store alone, and the other for one system call. The field calls
// this an asymmetric fence: light on the readers' side, heavy on the other.
//
// Why light readers are safe: the kernel's fence falls somewhere between two instructions of each
// thread. If before the reader's store, it is before the reader's look as well, which therefore
// sees the change. If after the store, look() sees the store.
//
// Where there is no such fence, readers are full ones: announce() and heavy_fence() are each a full
// fence of their own. Of two such fences one comes first in the order of all; what came before it
// is seen by what follows the other (C++20, [atomics.fences]).
//
// Full readers: any system but Linux; before Linux 4.14; where a filter of system calls forbids
// membarrier; with ThreadSanitizer; where the domain's owner asks for it. Valgrind and qemu hand
// membarrier on to the system, and it works there.

#ifndef ATTRCACHE_PLATFORM_ASYMMETRIC_FENCE_H_
#define ATTRCACHE_PLATFORM_ASYMMETRIC_FENCE_H_

#include "platform/atomic.h"

namespace attrcache {

// Registers the process for the kernel's fence, once: that is quick while it has one thread, and
// takes up to some milliseconds when it has more. False if there is no such fence. It is
// thread-safe, and a forked child inherits the registration.
bool kernel_fence_ready();

// Makes all threads of the process execute a full fence. Call this only where kernel_fence_ready()
// has returned true. asymmetric_fence.cc says what happens if the kernel refuses it later.
void kernel_fence();

// One for each domain, made with it and never changed; so all threads do the same.
class AsymmetricFence {
 public:
  explicit AsymmetricFence(bool full_readers) : light_(!full_readers && kernel_fence_ready()) {}

  // Whether readers pay for a plain store alone.
  bool light() const { return light_; }

  // Releases what the reader has done before to threads that look() at the cell. What it does
  // afterwards comes after the store for a thread that calls heavy_fence() and then look()s.
  // Wait-free.
  template <typename T>
  void announce(Atomic<T>& cell, T what) const {
    if (light_) [[likely]] {
      announce<Of::kLight>(cell, what);
    } else {
      announce<Of::kFull>(cell, what);
    }
  }
  // The same for a caller that knows which kind of readers there are.
  enum class Of { kLight, kFull };
  template <Of kOf, typename T>
  static void announce(Atomic<T>& cell, T what) {
    cell.store(what, kRelease);  // (F1) pairs with F2
    if (kOf == Of::kFull) {
      full_fence();
    } else {
      asm volatile("" : : : "memory");
    }
  }

  // Between the change and look(); once for any number of changes and cells.
  void heavy_fence() const {
    if (light_) {
      kernel_fence();
    } else {
      full_fence();
    }
  }

  // What is announced there.
  template <typename T>
  static T look(const Atomic<T>& cell) {
    return cell.load(kAcquire);  // (F2) pairs with F1
  }

 private:
  const bool light_;
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_ASYMMETRIC_FENCE_H_
