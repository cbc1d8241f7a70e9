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
// membarrier), they need pay for a plain store alone, and the other for one system call. The field
// calls this an asymmetric fence: light on the readers' side, heavy on the other.
//
// Why light readers are safe: the kernel's fence falls somewhere between two instructions of each
// thread. If before the reader's store, it is before the reader's look as well, which therefore
// sees the change. If after the store, look() sees the store.
//
// A full reader executes a full fence of its own after announce(), and against full readers the
// other needs only a full fence, too. Of two such fences one comes first in the order of all; what
// came before it is seen by what follows the other (C++20, [atomics.fences]). The kernel's fence is
// for everybody, so it serves against readers of both sorts. Which sort is used where is decided in
// table/hold.h.
//
// There are only full readers on any system but Linux; before Linux 4.14; where a filter of system
// calls forbids membarrier; with ThreadSanitizer; and where the domain's owner asks for it.
// Valgrind and qemu hand membarrier on to the system, and it works there.

#ifndef ATTRCACHE_PLATFORM_ASYMMETRIC_FENCE_H_
#define ATTRCACHE_PLATFORM_ASYMMETRIC_FENCE_H_

#include <cstdint>

#include "platform/atomic.h"

namespace attrcache {

// Registers the process for the kernel's fence, once: that is quick while it has one thread, and
// takes up to some milliseconds when it has more. False if there is no such fence. It is
// thread-safe, and a forked child inherits the registration.
bool kernel_fence_ready();

// Makes all threads of the process execute a full fence. Call this only where kernel_fence_ready()
// has returned true. asymmetric_fence.cc says what happens if the kernel refuses it later.
void kernel_fence();

class AsymmetricFence {
 public:
  enum class Of { kLight, kFull };

  explicit AsymmetricFence(bool full_readers) : state_(full_readers ? kNotReady : kUnknown) {}

  // Whether there may be light readers from now on. The first call registers the process, which
  // remains so: what is decided by true needs no look at this again.
  bool ready() {
    State state = state_.load(kRelaxed);  // says nothing about anything else
    if (state == kUnknown) [[unlikely]] {
      state = kernel_fence_ready() ? kReady : kNotReady;
      state_.store(state, kRelaxed);
    }
    return state == kReady;
  }

  // Releases what the reader has done before to threads that look() at the cell. What it does
  // afterwards, a full reader after a full fence of its own, comes after the store for a thread that
  // executes the other side's fence, and then look()s. Wait-free.
  template <typename T>
  [[gnu::always_inline]] static void announce(Atomic<T>& cell, T what) {
    cell.store(what, kRelease);  // (F1) pairs with F2
    asm volatile("" : : : "memory");
  }

  // The other side's, between the change and look(); once for any number of changes and cells. For
  // light readers it serves against full ones, too.
  static void heavy_fence(Of readers) {
    if (readers == Of::kLight) {
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
  enum State : uint32_t { kUnknown, kReady, kNotReady };
  Atomic<State> state_;
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_ASYMMETRIC_FENCE_H_
