// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The references on one keyval: one for each attached value. So that threads can attach and delete
// under the same keyval without slowing each other down, the count is spread over stripes while the
// keyval isn't freed. Freeing the keyval closes its stripes one by one, and adds their counts to
// one exact count, on which references are taken and dropped from then on.
//
// A stripe is one word {count, name, closed}. It is changed only by atomic read-modify-writes of
// that word, so a reference is taken on the right generation or not at all. No thread can go on
// counting in a stripe after it was closed, and therefore no grace period is needed. (percpu_ref of
// the Linux kernel, which is similar, keeps the mode beside the counters and has to wait for one.)
//
// Invariants
//   I1 The open stripes and exact add up to the references and kOpenBias, until the thread that has
//      closed the stripes takes the bias away.
//   I2 After that exact is the number of references. Once it is 0 it stays 0 until reset().
//   I3 A stripe that is closed stays closed until reset(), and its count means nothing.
// Exactly one call takes exact to 0. It tells its caller so, and the caller ends the keyval.

#ifndef ATTRCACHE_KEYVAL_REFERENCES_H_
#define ATTRCACHE_KEYVAL_REFERENCES_H_

#include <cstddef>
#include <cstdint>

#include "keyval/id.h"
#include "platform/atomic.h"

namespace attrcache {

// The lower half of a stripe, its name. It says all that set and dup need to know of the keyval, so
// that they need to look nowhere else. Marker, generation and kind are where the keyval has them.
// The flags take the place of the index, which isn't needed, because each index has its own
// stripes.
namespace stripe {
inline constexpr uint32_t kKeyval = id::kMarkerMask | id::kGenerationMask | id::kKindMask;
inline constexpr uint32_t kDupFn = 1u << 4;       // copied as by DUP_FN
inline constexpr uint32_t kNullCopyFn = 1u << 5;  // not copied: NULL_COPY_FN, or predefined
inline constexpr uint32_t kNoDeleteFn = 1u << 9;  // has no delete_fn; a meta has the same bit
inline constexpr uint32_t kFlags = kDupFn | kNullCopyFn | kNoDeleteFn;
// A closed stripe has another marker, which no keyval and no slot has.
inline constexpr uint32_t kClosing = id::kMarker;  // added to a stripe, it closes it
inline constexpr uint32_t kClosed = id::kMarker << 1;
}  // namespace stripe

class References {
 public:
  using Counter = Atomic<uint64_t>;

  // A stripe has a count above its name, modulo 2^32. Where some threads attach and others delete,
  // a stripe's count may wrap around; only the sum over all stripes means something. The sum can't,
  // because memory has no room for 2^31 attributes under one keyval and their objects.
  static constexpr unsigned kStripeShift = 32;
  static constexpr uint64_t kOneOfStripe = uint64_t{1} << kStripeShift;
  static constexpr uint64_t kLessOneOfStripe = uint64_t{0} - kOneOfStripe;

  // The stripes of one keyval: mask + 1 counters, which is a power of two. Each is 2^shift counters
  // after the one before.
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

  // Begins a generation. All stripes get `name`. If that is a closed one, references are taken on
  // the exact count from the start. Only the creator of the keyval may call this, before it
  // publishes the keyval.
  void reset(uint32_t name);

  // Takes a reference on a keyval, unless it is gone. Lock-free.
  bool acquire(uint32_t keyval, unsigned ordinal);

  // The same in one attempt, on a stripe that is open and held `word`. False: retry on the slow
  // path. Wait-free. A caller who does so many times may pass the constant, which needs 64 bits,
  // from a register.
  static bool acquire_open(Counter& stripe, uint64_t word, uint64_t one = kOneOfStripe);

  // Drops a reference. False: the stripe is closed, and the caller must call drop_closed().
  // Wait-free.
  static bool drop_open(Counter& stripe);

  // The same in one attempt. False: no reference was dropped. Wait-free.
  static bool drop_if_open(Counter& stripe, uint64_t less_one = kLessOneOfStripe);

  static bool is_open(const Counter& stripe) { return !closed(stripe.load(kRelaxed)); }

  // Drops a reference after the stripes were closed. True: it was the last, and the caller must end
  // the keyval. Wait-free.
  bool drop_closed();

  // Changes the flags in the names of all stripes, whatever they count, and whether or not they are
  // closed. Wait-free.
  void rename(uint32_t old_flags, uint32_t new_flags);

  // Closes the stripes and returns the sum of their counts. Pass it to close_exact(); if it is 0,
  // you may try end_unused() first. To be called once in each generation. Wait-free.
  uint32_t close_stripes();

  // Ends the count if it is 0, when the stripes counted no references. True: the caller must end
  // the keyval. False: a reference was taken meanwhile, and close_exact() must follow. Wait-free.
  bool end_unused(uint32_t keyval);

  // Adds what the stripes counted to the exact count, and takes the bias away. True: no reference
  // was left, and the caller must end the keyval. Wait-free.
  bool close_exact(uint32_t counted);

  // The number of references. It is approximate while others take or drop one, or close the
  // stripes.
  uint64_t count() const;

 private:
  static uint32_t stripe_count(uint64_t word) {
    return static_cast<uint32_t>(word >> kStripeShift);
  }
  static int64_t signed_sum(uint32_t counts) { return static_cast<int32_t>(counts); }
  static bool closed(uint64_t word) { return (word & stripe::kClosed) != 0; }

  // The exact count's word has the generation where the keyval has it, and above it a signed count.
  static constexpr unsigned kExactShift = 29;
  static constexpr uint64_t kOneOfExact = uint64_t{1} << kExactShift;
  static int64_t exact_count(uint64_t word) { return static_cast<int64_t>(word) >> kExactShift; }
  static bool exact_is_of(uint64_t word, uint32_t keyval) {
    return ((word ^ keyval) & id::kGenerationMask) == 0;
  }
  // More than there can ever be references. It keeps the exact count above 0 while stripes are
  // open.
  static constexpr int64_t kOpenBias = int64_t{1} << 33;

  Counter& exact_;
  const Stripes stripes_;
};

inline bool References::acquire(uint32_t keyval, unsigned ordinal) {
  Counter& mine = stripes_.of(ordinal);
  // (R1) Acquire, as in all places of this function that may tell that the keyval is gone: whoever
  // is told so must see its attributes deleted (R4, R6).
  uint64_t word = mine.load(kAcquire);
  while (((word ^ keyval) & stripe::kKeyval) == 0) {
    // (R2) Acquire: it reads what reset() stored (R6), or an update that continues R6's release
    // sequence, so what the creator wrote is seen. It need not release, because any update
    // continues the release sequences of R4 and R6.
    if (mine.compare_exchange_weak(word, word + kOneOfStripe, kAcqRel, kAcquire)) return true;
  }
  // The stripe is closed or of another generation. In the latter case exact is of another one, too,
  // or soon will be.
  if (!exact_is_of(word, keyval)) return false;
  word = exact_.load(kAcquire);  // (R3) as R1
  while (exact_is_of(word, keyval) && exact_count(word) > 0) {
    // As R2. The keyval is freed and still in use.
    if (exact_.compare_exchange_weak(word, word + kOneOfExact, kAcqRel, kAcquire)) return true;
  }
  return false;
}

inline bool References::acquire_open(Counter& stripe, uint64_t word, uint64_t one) {
  return stripe.compare_exchange_strong(word, word + one, kAcqRel, kRelaxed);  // as R2
}

inline bool References::drop_open(Counter& stripe) {
  // (R4) release: all that this thread did with the keyval comes before the keyval's end, whose
  // thread acquires it by R5 or R7. If the stripe is closed, what is left in it means nothing (I3).
  return !closed(stripe.fetch_sub(kOneOfStripe, kRelease));
}

inline bool References::drop_if_open(Counter& stripe, uint64_t less_one) {
  uint64_t word = stripe.load(kRelaxed);  // only a guess for the exchange
  return !closed(word) &&
         stripe.compare_exchange_strong(word, word + less_one, kRelease, kRelaxed);  // as R4
}

inline void References::reset(uint32_t name) {
  // As R6; pairs with R3.
  exact_.store(uint64_t{kOpenBias} << kExactShift | (name & id::kGenerationMask), kRelease);
  // (R6) pairs with R1 and R2
  stripes_.for_each([name](Counter& stripe) { stripe.store(name, kRelease); });
}

[[gnu::always_inline]] inline uint64_t References::count() const {
  int64_t sum = exact_count(exact_.load(kAcquire));
  if (sum >= kOpenBias / 2) sum -= kOpenBias;  // the bias is still in it
  uint32_t counts = 0;
  stripes_.for_each([&counts](const Counter& stripe) {
    const uint64_t word = stripe.load(kAcquire);
    if (!closed(word)) counts += stripe_count(word);
  });
  sum += signed_sum(counts);
  return sum > 0 ? static_cast<uint64_t>(sum) : 0;
}

inline void References::rename(uint32_t old_flags, uint32_t new_flags) {
  const uint64_t change = uint64_t{new_flags} - old_flags;  // changes the lower half only
  stripes_.for_each([change](Counter& stripe) { stripe.fetch_add(change, kAcqRel); });  // as R6
}

inline uint32_t References::close_stripes() {
  uint32_t counted = 0;
  stripes_.for_each([&counted](Counter& stripe) {
    // (R7) acquire: pairs with R4. Release: whoever finds the stripe closed sees that the keyval is
    // freed. Adding turns the marker into that of a closed stripe, because nobody else closes the
    // stripes of this generation.
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
