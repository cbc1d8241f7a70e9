// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The references on one keyval: one for each attached value. Threads attach and delete under the
// same keyval at full speed, so the count is spread over stripes, one cache line apart, while the
// keyval lives; freeing the keyval closes the stripes one by one and collects them into one exact
// count.
//
// A stripe is {count, name, closed}, changed by single compare-and-swaps, so a reference is taken
// on the right generation or not at all: nobody can be "still counting in the old mode", and no
// grace period is needed to switch modes. (percpu_ref, which this resembles, keeps the mode beside
// the counters and therefore has to wait for one.)
//
// Invariants
//   I1 open stripes + exact = references + kOpenBias, until whoever has closed the stripes takes
//      the bias away.
//   I2 after that exact = references, and once it is 0 it stays 0 until reset().
//   I3 a stripe that is closed stays closed until reset(); its count then means nothing.
// Whoever takes exact to 0 is told so, by exactly one call, and ends the keyval.

#ifndef ATTRCACHE_KEYVAL_REFERENCES_H_
#define ATTRCACHE_KEYVAL_REFERENCES_H_

#include <cstddef>
#include <cstdint>

#include "keyval/id.h"
#include "platform/atomic.h"

namespace attrcache {

// The lower half of a stripe: what whoever takes a reference there needs to know of the keyval, so
// that it needs to look nowhere else. Marker, generation and kind stand where the keyval has them;
// the rest in the place of the index, which the stripe's place implies.
namespace stripe {
inline constexpr uint32_t kKeyval = id::kMarkerMask | id::kGenerationMask | id::kKindMask;
inline constexpr uint32_t kDupFn = 1u << 4;       // DUP_FN
inline constexpr uint32_t kNullCopyFn = 1u << 5;  // NULL_COPY_FN, or predefined
inline constexpr uint32_t kNoDeleteFn = 1u << 9;  // has no delete_fn; in a meta it is the same bit
// A closed stripe's marker is another one, which no keyval and no slot has.
inline constexpr uint32_t kClosing = id::kMarker;  // added to close
inline constexpr uint32_t kClosed = id::kMarker << 1;
}  // namespace stripe

class References {
 public:
  using Counter = Atomic<uint64_t>;

  // mask + 1 counters, a power of two, 2^shift counters apart.
  struct Stripes {
    Counter* first;
    unsigned shift;
    unsigned mask;
    Counter& of(unsigned ordinal) const { return first[size_t{ordinal & mask} << shift]; }
    template <typename Visit>
    void for_each(Visit visit) const {
      const size_t step = size_t{1} << shift;
      Counter* counter = first;
      Counter* const last = first + step * mask;
      for (visit(*counter); counter != last;) visit(*(counter += step));
    }
  };

  References(Counter& exact, Stripes stripes) : exact_(exact), stripes_(stripes) {}

  // Starts a generation; `name` as above, open or closed (then references are taken one by one on
  // the exact count). Only the creator of the keyval calls it, before it publishes the keyval.
  void reset(uint32_t name);

  // Takes a reference on a keyval, unless it is gone. Lock-free.
  bool acquire(uint32_t keyval, unsigned ordinal);

  // The same in one attempt at an open stripe, which held `word`. False: retry on the slow path.
  // Wait-free.
  static bool acquire_open(Counter& stripe, uint64_t word);

  // Drops one. False: the count is closed, and drop_closed() is to do it. Wait-free.
  static bool drop_open(Counter& stripe);

  // The same in one attempt; false: none is dropped. Wait-free.
  static bool drop_if_open(Counter& stripe);

  static bool is_open(const Counter& stripe) { return !closed(stripe.load(kRelaxed)); }

  // True: it was the last. Wait-free.
  bool drop_closed();

  // Closes the stripes and returns what they counted: pass the result to close_exact(), or call
  // end_unused() if it is 0. Called once a generation. Wait-free.
  uint32_t close_stripes();

  // Ends the count at once, if the stripes counted none. False: a reference was taken since, and
  // close_exact() is to follow. Wait-free.
  bool end_unused(uint32_t keyval);

  // Adds what the stripes counted to the exact count and takes the bias away. True: no reference
  // was left. Wait-free.
  bool close_exact(uint32_t counted);

  // How many there are; exact when nobody takes or drops one, nor closes the count, meanwhile.
  uint64_t count() const;

 private:
  // A stripe: above the name a count, modulo 2^32. It may run out of any range where some threads
  // attach and others delete; only the sum of all means something, and 2^31 attributes of one
  // keyval would not fit into memory beside their objects.
  static constexpr unsigned kStripeShift = 32;
  static constexpr uint64_t kOneOfStripe = uint64_t{1} << kStripeShift;
  static uint32_t stripe_count(uint64_t word) {
    return static_cast<uint32_t>(word >> kStripeShift);
  }
  static int64_t signed_sum(uint32_t counts) { return static_cast<int32_t>(counts); }
  static bool closed(uint64_t word) { return (word & stripe::kClosed) != 0; }

  // Exact: the generation, where the keyval has it, and above it a signed count.
  static constexpr unsigned kExactShift = 29;
  static constexpr uint64_t kOneOfExact = uint64_t{1} << kExactShift;
  static int64_t exact_count(uint64_t word) { return static_cast<int64_t>(word) >> kExactShift; }
  static bool exact_is_of(uint64_t word, uint32_t keyval) {
    return ((word ^ keyval) & id::kGenerationMask) == 0;
  }
  // More than there can ever be references; keeps exact above 0 while stripes are open.
  static constexpr int64_t kOpenBias = int64_t{1} << 33;

  Counter& exact_;
  const Stripes stripes_;
};

inline bool References::acquire(uint32_t keyval, unsigned ordinal) {
  Counter& mine = stripes_.of(ordinal);
  // (R1) Acquire, as wherever this function learns that the keyval is gone: whoever is told so has
  // seen its attributes deleted (R4, R6).
  uint64_t word = mine.load(kAcquire);
  while (((word ^ keyval) & stripe::kKeyval) == 0) {
    // (R2) acquire: reads reset's R6, or a stripe word that continues it, so what the creator wrote
    // is seen. Release is more than is needed: any update continues the sequences of R4 and R6.
    if (mine.compare_exchange_weak(word, word + kOneOfStripe, kAcqRel, kAcquire)) return true;
  }
  // Closed, or of another generation, as exact is then, too, or will be.
  if (!exact_is_of(word, keyval)) return false;
  word = exact_.load(kAcquire);  // (R3) as R1
  while (exact_is_of(word, keyval) && exact_count(word) > 0) {
    // As R2, for a keyval that is freed and still in use.
    if (exact_.compare_exchange_weak(word, word + kOneOfExact, kAcqRel, kAcquire)) return true;
  }
  return false;
}

inline bool References::acquire_open(Counter& stripe, uint64_t word) {
  return stripe.compare_exchange_strong(word, word + kOneOfStripe, kAcqRel, kRelaxed);  // as R2
}

inline bool References::drop_open(Counter& stripe) {
  // (R4) release: all that this thread did with the keyval comes before the end of it, which R5 or
  // R7 sees by acquire. What it leaves in a closed stripe means nothing (I3).
  return !closed(stripe.fetch_sub(kOneOfStripe, kRelease));
}

inline bool References::drop_if_open(Counter& stripe) {
  uint64_t word = stripe.load(kRelaxed);  // only a guess for the exchange
  return !closed(word) && stripe.compare_exchange_strong(word, word - kOneOfStripe, kRelease,
                                                         kRelaxed);  // as R4
}

inline void References::reset(uint32_t name) {
  // As R6, for R3.
  exact_.store(uint64_t{kOpenBias} << kExactShift | (name & id::kGenerationMask), kRelease);
  // (R6) pairs with R1 and R2
  stripes_.for_each([name](Counter& stripe) { stripe.store(name, kRelease); });
}

[[gnu::always_inline]] inline uint64_t References::count() const {
  int64_t sum = exact_count(exact_.load(kAcquire));
  if (sum >= kOpenBias / 2) sum -= kOpenBias;  // not closed yet
  uint32_t counts = 0;
  stripes_.for_each([&counts](const Counter& stripe) {
    const uint64_t word = stripe.load(kAcquire);
    if (!closed(word)) counts += stripe_count(word);
  });
  sum += signed_sum(counts);
  return sum > 0 ? static_cast<uint64_t>(sum) : 0;
}

inline uint32_t References::close_stripes() {
  uint32_t counted = 0;
  stripes_.for_each([&counted](Counter& stripe) {
    // (R7) acquire: pairs with R4; release: those who find it closed see that the keyval is freed.
    // Adding turns the marker into the closed one: nobody else closes this generation.
    counted += stripe_count(stripe.fetch_add(stripe::kClosing, kAcqRel));
  });
  return counted;
}

inline bool References::end_unused(uint32_t keyval) {
  const uint64_t generation = keyval & id::kGenerationMask;
  uint64_t biased = uint64_t{kOpenBias} << kExactShift | generation;
  return exact_.compare_exchange_strong(biased, generation, kAcqRel, kRelaxed);  // as R5
}

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_REFERENCES_H_
