// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The fence between readers who announce what they read and the one who looks for announcements:
//
//   a reader:   announce(cell, what)     the other:   change what readers look at (by an update)
//               look at what is there                 heavy_fence()
//                                                     look(cell)
//
// At least one of the two sees the other: the reader the change, or the other the announcement.
// (The shape is store buffering, so release and acquire are not enough.) Readers are many and
// often, so where the kernel can make all threads of the process execute a fence (Linux's
// membarrier), they pay for a plain store alone, and the other for one system call. The name of
// this in the field is asymmetric fence: light on the readers' side, heavy on the other.
//
// Why light readers are safe: the kernel's fence falls somewhere between two instructions of each
// thread. If before the reader's store, it is before the reader's look as well, which therefore
// sees the change. If after the store, look() sees the store.
//
// Where that isn't to be had, readers are full ones: announce() is one exchange, and look() is an
// update of the same cell that changes nothing. Updates of one cell have an order. So look() comes
// after the exchange and reads it (F3, F4), or the exchange comes after look(), and has acquired
// what came before that (F4, F3). No standalone fence is needed, so ThreadSanitizer understands it
// too. But it holds for that cell alone. So whatever leads to a cell (the head of a list of
// records, the pointer to an array of them) must be read by look(), too, and be published by an
// update that acquires and releases.
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

// Makes all threads of the process execute a full fence. To be called only where
// kernel_fence_ready() has said true. If the kernel refuses meanwhile, see asymmetric_fence.cc.
void kernel_fence();

// One for each domain, made with it and never changed; so all threads do the same.
class AsymmetricFence {
 public:
  explicit AsymmetricFence(bool full_readers) : light_(!full_readers && kernel_fence_ready()) {}

  // Whether readers pay for a plain store alone.
  bool light() const { return light_; }

  // What the reader has done before is released to whoever look()s at it. What it does afterwards
  // it does after the store, as seen by whoever calls heavy_fence() and then look()s. Wait-free.
  template <typename T>
  void announce(Atomic<T>& cell, T what) const {
    if (light_) [[likely]] {
      cell.store(what, kRelease);  // (F1) pairs with F2
      asm volatile("" : : : "memory");
    } else {
      cell.exchange(what, kAcqRel);  // (F3) pairs with F4
    }
  }

  // announce() for who knows that readers are light.
  template <typename T>
  static void announce_light(Atomic<T>& cell, T what) {
    cell.store(what, kRelease);  // (F1) as in announce()
    asm volatile("" : : : "memory");
  }

  // Between the change and look(); once for any number of changes and cells.
  void heavy_fence() const {
    if (light_) kernel_fence();
  }

  // What is announced there.
  template <typename T>
  T look(Atomic<T>& cell) const {
    return light_ ? cell.load(kAcquire)          // (F2) pairs with F1
                  : cell.fetch_add(0, kAcqRel);  // (F4) pairs with F3
  }

 private:
  const bool light_;
};

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_ASYMMETRIC_FENCE_H_
