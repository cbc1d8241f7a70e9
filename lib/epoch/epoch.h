// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Epoch-based reclamation (Fraser, "Practical lock-freedom", 2004, section 5.2.3) for the record
// that a keyval leaves behind when it is gone. Attached values keep a keyval alive by references,
// so epochs protect only threads that read a record without one: introspection of one keyval.
//
// Pins are rare and short here, but every keyval that is freed asks whether there are any. So one
// word says it all, and a free reads it in one step: the number of the epoch, and two counts of
// pins, one for even epochs and one for odd ones. The readers of values announce in a record for
// each thread instead (readers.h). If pins did so, too, the free of a keyval would have to look
// through the records of all threads, and a pin could fail for want of memory.
//
// All that matters is done by read-modify-writes of the word, even where it is only read (E2). So
// these have one order, in which each that acquires sees what was done before all earlier ones that
// release.
//
// Invariants
//   EI1 The epoch goes from e to e+1 only while the count that e-1 used, and that e+1 is going to
//       use, is 0. So each count is 0 at some moment between epochs e and e+2, and every thread
//       that was pinned at e has left by then, whichever of the two counted the pin. New pins use
//       the count of the epoch that they have seen: so the other comes to 0, however many follow.
//   EI2 retire() reads the word (E2). Later pins (E1) see what was done before, and don't find the
//       item any more. It is reclaimed when all earlier pins have gone: at once if both counts are
//       0; else two epochs later, by EI1.
//   EI3 With nobody pinned, retire() reclaims before it returns. With somebody pinned, the last to
//       unpin reclaims: a thread that has pushed items to the list then reads the word (E2), and
//       unpinning reads the list after it has changed the word (E3). If E2 comes first, E3 sees
//       what was pushed; else E2 sees that the pin is gone. So nothing waits when a domain ends.

#ifndef ATTRCACHE_EPOCH_EPOCH_H_
#define ATTRCACHE_EPOCH_EPOCH_H_

#include <cstdint>

#include "platform/atomic.h"
#include "platform/memory.h"

namespace attrcache {

// The base of everything that is retired. Intrusive, so that retiring can't fail.
struct Retired {
  // True while the item is retired and its grace period isn't over. Until then the owner must not
  // write it. This may be asked only of items without `reclaim`: the others may be gone.
  bool waits() const { return waiting.load(kAcquire) != 0; }  // (E6) pairs with E7

  Retired* next = nullptr;
  uint64_t epoch = 0;
  // Called by whichever thread finds that the grace period is over. If it is null, nothing is
  // called, and the owner must ask waits() before it uses the item again.
  void (*reclaim)(Retired*, const Memory&) = nullptr;
  Atomic<uint64_t> waiting{0};
};

class Epoch {
 public:
  // `memory` is passed on to each item's `reclaim`.
  explicit Epoch(const Memory& memory = kProcessMemory) : memory_(memory) {}

  // Pins the epoch while it lives, so that nothing is reclaimed that its thread may have found. It
  // must not be held across a callback: that could run for any length of time, and records would
  // pile up. Pinning is wait-free, unpinning lock-free.
  class Guard {
   public:
    explicit Guard(Epoch& epoch);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    Epoch& epoch_;
    const uint64_t pin_;
  };

  // Takes over something that no new look-up can find any more. When it returns, the item is
  // reclaimed already, or waits for the end of its grace period. Lock-free.
  void retire(Retired* item);

  // How many items wait for the end of their grace periods. The number is approximate while other
  // threads retire items. Wait-free.
  uint64_t waiting() const { return waiting_.load(kRelaxed); }

 private:
  // A count has 24 bits, and can't run over: Linux allows 2^22 threads, each with one pin at most.
  static constexpr unsigned kCountBits = 24;
  static constexpr uint64_t kCount = (uint64_t{1} << kCountBits) - 1;
  // The bits above the counts are the epoch's number. It stays there, as a multiple of this.
  static constexpr uint64_t kOneEpoch = uint64_t{1} << 2 * kCountBits;

  static constexpr uint64_t pins(uint64_t word) { return word & (kOneEpoch - 1); }
  static constexpr uint64_t epoch(uint64_t word) { return word & ~(kOneEpoch - 1); }
  // One pin, in the count of the word's epoch.
  static constexpr uint64_t one(uint64_t word) {
    return (word & kOneEpoch) != 0 ? uint64_t{1} << kCountBits : 1;
  }
  // The pins in the other count, which hold up the epoch.
  static constexpr uint64_t other_pins(uint64_t word) {
    return word & one(word + kOneEpoch) * kCount;
  }

  uint64_t read();
  void keep(Retired* item, uint64_t epoch);
  bool advance();
  void push(Retired* item);
  void collect();

  const Memory memory_;
  // It begins two epochs before the number comes round, so that every test meets that.
  Atomic<uint64_t> word_{0 - 2 * kOneEpoch};
  Atomic<Retired*> list_{nullptr};
  Atomic<uint64_t> waiting_{0};
};

inline uint64_t Epoch::read() {
  // (E2) A read-modify-write, though it changes nothing: so it has its place in the word's order.
  // Release: pairs with E1, for EI2, and with E3, for EI3. Acquire: pairs with E3, so that the
  // reads of threads that were pinned come before the reclaiming.
  return word_.fetch_add(0, kAcqRel);
}

inline void Epoch::retire(Retired* item) {
  const uint64_t word = read();
  if (pins(word) != 0) {
    keep(item, epoch(word));
  } else if (item->reclaim != nullptr) {
    item->reclaim(item, memory_);
  }
}

}  // namespace attrcache

#endif  // ATTRCACHE_EPOCH_EPOCH_H_
