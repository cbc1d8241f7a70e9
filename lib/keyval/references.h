// SPDX-License-Identifier: Apache-2.0
//
// The references on one keyval: one for each attached value. Threads attach and delete under the
// same keyval at full speed, so the count is spread over stripes, one cache line apart, while the
// keyval lives; freeing the keyval closes the stripes one by one and collects them into one exact
// count.
//
// A stripe is {count, generation, closed}, changed by single compare-and-swaps, so a reference is
// taken on the right generation or not at all: nobody can be "still counting in the old mode", and
// no grace period is needed to switch modes. (percpu_ref, which this resembles, keeps the mode
// beside the counters and therefore has to wait for one.)
//
// Invariants
//   I1 open stripes + exact = references + kBias, until close() takes the bias away.
//   I2 after that exact = references, and once it is 0 it stays 0 until reset().
//   I3 a stripe that is closed stays closed until reset(); its count then means nothing.
// Whoever takes exact to 0 is told so, by exactly one call, and ends the keyval.

#ifndef ATTRCACHE_KEYVAL_REFERENCES_H_
#define ATTRCACHE_KEYVAL_REFERENCES_H_

#include <cstddef>
#include <cstdint>

#include "platform/atomic.h"

namespace attrcache {

class References {
 public:
  using Counter = Atomic<uint64_t>;

  // mask + 1 counters, a power of two, 2^shift counters apart.
  struct Stripes {
    Counter* first;
    unsigned shift;
    unsigned mask;
    Counter& of(unsigned ordinal) const { return first[size_t{ordinal & mask} << shift]; }
  };

  References(Counter& exact, Stripes stripes) : exact_(exact), stripes_(stripes) {}

  // Starts a generation. Only the creator of the keyval calls it, before it publishes the keyval.
  void reset(unsigned generation);

  // Takes a reference, unless that generation is gone. Lock-free.
  bool acquire(unsigned generation, unsigned ordinal);

  // The same in one attempt at an open stripe; false says nothing. Wait-free.
  static bool acquire_open(Counter& stripe, unsigned generation);

  // Drops one. False: the count is closed, and drop_closed() is to do it. Wait-free.
  static bool drop_open(Counter& stripe);

  // True: it was the last. Wait-free.
  bool drop_closed();

  // Closes the count; called once a generation. True: no reference was left. Wait-free.
  bool close();

  // How many there are; exact when nobody takes or drops one meanwhile.
  uint64_t count() const;

 private:
  // Stripe and exact: bit 0 closed (stripes only), bits 1 to 8 generation, above them a signed
  // count.
  static constexpr unsigned kCountShift = 9;
  static constexpr uint64_t kOne = uint64_t{1} << kCountShift;
  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kGenerationMask = 0x1fe;
  // More than there can ever be references; keeps exact above 0 while stripes are open.
  static constexpr int64_t kBias = int64_t{1} << 50;

  static constexpr uint64_t pack(unsigned generation, int64_t count) {
    return static_cast<uint64_t>(count) << kCountShift | generation << 1;
  }
  static constexpr unsigned generation_of(uint64_t word) { return word >> 1 & 0xff; }
  static constexpr int64_t count_of(uint64_t word) {
    return static_cast<int64_t>(word) >> kCountShift;
  }
  Counter& exact_;
  const Stripes stripes_;
};

inline bool References::acquire(unsigned generation, unsigned ordinal) {
  Counter& mine = stripes_.of(ordinal);
  // (R1) Acquire, as wherever this function learns that the keyval is gone: whoever is told so has
  // seen its attributes deleted (R4, R6).
  uint64_t word = mine.load(kAcquire);
  while (generation_of(word) == generation && (word & kClosed) == 0) {
    // (R2) acquire: reads reset's R6, or a stripe word that continues it, so what the creator wrote
    // is seen. Release is more than is needed: any update continues the sequences of R4 and R6.
    if (mine.compare_exchange_weak(word, word + kOne, kAcqRel, kAcquire)) return true;
  }
  if (generation_of(word) != generation) return false;
  word = exact_.load(kAcquire);  // (R3) as R1
  while (generation_of(word) == generation && count_of(word) > 0) {
    // As R2, for a keyval that is freed and still in use.
    if (exact_.compare_exchange_weak(word, word + kOne, kAcqRel, kAcquire)) return true;
  }
  return false;
}

inline bool References::acquire_open(Counter& stripe, unsigned generation) {
  uint64_t word = stripe.load(kRelaxed);  // only a guess for the exchange
  return (word & (kClosed | kGenerationMask)) == generation << 1 &&
         stripe.compare_exchange_strong(word, word + kOne, kAcqRel, kRelaxed);  // as R2
}

inline bool References::drop_open(Counter& stripe) {
  // (R4) release: all that this thread did with the keyval comes before the end of it, which R5 or
  // R7 sees by acquire. What it leaves in a closed stripe means nothing (I3).
  return (stripe.fetch_sub(kOne, kRelease) & kClosed) == 0;
}

inline void References::reset(unsigned generation) {
  exact_.store(pack(generation, kBias), kRelease);  // as R6, for R3
  for (unsigned s = 0; s <= stripes_.mask; ++s) {
    stripes_.of(s).store(pack(generation, 0), kRelease);  // (R6) pairs with R1 and R2
  }
}

inline bool References::close() {
  int64_t sum = 0;
  for (unsigned s = 0; s <= stripes_.mask; ++s) {
    // (R7) acquire: pairs with R4; release: those who find it closed see that the keyval is freed.
    // Adding sets the bit, which is 0: nobody else closes this generation.
    sum += count_of(stripes_.of(s).fetch_add(kClosed, kAcqRel));
  }
  const uint64_t change = static_cast<uint64_t>(sum - kBias) << kCountShift;
  const uint64_t before = exact_.fetch_add(change, kAcqRel);  // as R5
  return count_of(before + change) == 0;
}

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_REFERENCES_H_
