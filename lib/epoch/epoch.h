// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Epoch-based reclamation (Fraser, "Practical lock-freedom", 2004, section 5.2.3) for the record
// that a keyval leaves behind when it is gone. Attached values keep a keyval alive by references,
// so epochs protect those who look at records without owning one: introspection and reports.
//
// Pins are rare and short here, but every keyval that is freed asks whether there are any. So a pin
// is a count in one of three fields, selected by epoch, of a stripe's word: who frees reads at most
// kMaxStripes words. The readers of values announce in a record for each thread instead
// (readers.h), where the free of a keyval would have to look through the records of all threads,
// and a pin could fail for want of memory.
//
// Invariants
//   EI1 The epoch goes from e to e+1 only when no pin of epoch e-1 is left. Hence pins are of e or
//      e-1.
//   EI2 What is retired at e may still be seen by pins of e-1 and e, not by later ones. It is
//      reclaimed at e+2 or later, when by EI1 those of e-1 and e are gone, or when nobody is pinned
//      at all.
//   EI3 With nobody pinned, retire() reclaims before it returns. With somebody pinned, the last to
//      unpin reclaims: retire() pushes the item and then reads the pins, unpinning drops the pin
//      and then reads the list. All four are seq_cst, so one of the two sees the other.

#ifndef ATTRCACHE_EPOCH_EPOCH_H_
#define ATTRCACHE_EPOCH_EPOCH_H_

#include <cstddef>
#include <cstdint>

#include "platform/atomic.h"
#include "platform/memory.h"

namespace attrcache {

// The base of everything that is retired. Intrusive, so that retiring can't fail.
struct Retired {
  // True while the item is retired and its grace period isn't over. Until then the owner must not
  // write it. This may be asked only of items without `reclaim`: the others may be gone.
  bool waits() const { return waiting.load(kAcquire) != 0; }  // (E12) pairs with E13

  Retired* next = nullptr;
  uint64_t epoch = 0;
  // Called by whichever thread finds that the grace period is over. If it is null, nothing is
  // called, and the owner must ask waits() before it uses the item again.
  void (*reclaim)(Retired*, const Memory&) = nullptr;
  Atomic<uint64_t> waiting{0};
};

class Epoch {
 public:
  // Spreads the pins over `stripes` counters, which is a power of two, but at most over
  // kMaxStripes. Who reclaims is told where memory comes from.
  explicit Epoch(unsigned stripes, const Memory& memory = kProcessMemory)
      : memory_(memory),
        stripe_mask_((stripes < kMaxStripes ? stripes : kMaxStripes) - 1),
        last_stripe_(&stripes_[stripe_mask_]) {}

  // Pins the epoch while it lives, so that nothing is reclaimed that its thread may have found. It
  // must not be held across a callback: that could run for any length of time, and records would
  // pile up.
  class Guard {
   public:
    Guard(Epoch& epoch, unsigned ordinal)
        : epoch_(epoch), pins_(epoch.stripe(ordinal)), one_(epoch.enter(pins_)) {}
    ~Guard() { epoch_.leave(pins_, one_); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    Epoch& epoch_;
    Atomic<uint64_t>& pins_;
    const uint64_t one_;
  };

  // To be called for something that no new look-up can find any more. True if nobody can still see
  // it either: then it may be used again at once. Else it must be retired. Wait-free.
  bool unseen();

  // Takes over something that no new look-up can find any more. When it returns, the item is
  // reclaimed already, or waits for the end of its grace period. Lock-free.
  void retire(Retired* item);

  // How many items wait for the end of their grace periods. The number is approximate while other
  // threads retire items. Wait-free.
  uint64_t waiting() const { return waiting_.load(kRelaxed); }

  // Reclaims all that waits, because the domain ends. Nobody may be pinned or retire anything
  // meanwhile.
  void drain();

 private:
  static constexpr unsigned kMaxStripes = 8;
  struct Stripe {
    Atomic<uint64_t> pins;
    char apart[128 - sizeof(uint64_t)];  // keeps pins of two stripes out of one cache line
  };
  // A field has 21 bits, more than there can be threads, of which each has few pins at a time.
  static constexpr unsigned kFieldBits = 21;
  static constexpr uint64_t one(uint64_t epoch) { return uint64_t{1} << kFieldBits * (epoch % 3); }
  static constexpr uint64_t field(uint64_t epoch) { return one(epoch) * ((1u << kFieldBits) - 1); }

  Atomic<uint64_t>& stripe(unsigned ordinal) { return stripes_[ordinal & stripe_mask_].pins; }
  uint64_t enter(Atomic<uint64_t>& pins);
  void leave(Atomic<uint64_t>& pins, uint64_t one);
  uint64_t mark();
  bool nobody_pinned() const;
  void keep(Retired* item);
  void reclaim_kept(Retired* item);
  bool advance();
  void push(Retired* first, Retired* last);
  void collect(uint64_t ripe);

  const Memory memory_;
  Atomic<uint64_t> epoch_{0};
  Atomic<Retired*> list_{nullptr};
  Atomic<uint64_t> waiting_{0};
  const unsigned stripe_mask_;
  const Stripe* const last_stripe_;
  Stripe stripes_[kMaxStripes] = {};
};

// Must be called after the caller has written to epoch_ (E8).
inline bool Epoch::nobody_pinned() const {
  // (E11) Whoever pins (E2) after one of these loads in the one order of seq_cst reads that write,
  // or a later one, at E3, and hence no longer finds what was retired before it. Acquire: pairs
  // with E6 of those who were pinned.
  uint64_t pins;
  const Stripe* s = stripes_;
  const Stripe* const last = last_stripe_;
  for (pins = s->pins.load(kSeqCst); s != last;) pins |= (++s)->pins.load(kSeqCst);
  return pins == 0;
}

inline uint64_t Epoch::mark() {
  // (E8) A read-modify-write, though it changes nothing: its release is carried by E5 to every E1
  // that reads a later epoch, so a pin of a later epoch can't find the item any more.
  return epoch_.fetch_add(0, kSeqCst);
}

inline bool Epoch::unseen() {
  mark();
  return nobody_pinned();
}

inline void Epoch::retire(Retired* item) {
  item->epoch = mark();
  if (!nobody_pinned()) {
    keep(item);
  } else if (item->reclaim != nullptr) {
    item->reclaim(item, memory_);
  }
}

}  // namespace attrcache

#endif  // ATTRCACHE_EPOCH_EPOCH_H_
