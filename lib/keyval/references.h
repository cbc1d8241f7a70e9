// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The references on one keyval: one for each attached value. So that threads can attach and delete
// under the same keyval without slowing each other down, the count is spread over stripes while the
// keyval isn't freed. Beside them there is one exact count. Freeing the keyval closes its stripes,
// and adds what they counted to the exact count, on which references are taken and dropped from
// then on.
//
// A stripe is one word {count, name}. It is changed only by atomic read-modify-writes of that word,
// so a reference is taken on the right generation or not at all. No thread can go on counting in a
// stripe after it was closed, and therefore no grace period is needed. (percpu_ref of the Linux
// kernel, which is similar, keeps the mode beside the counters and has to wait for one.)
//
// A keyval begins with no stripe open, so that creating and freeing one costs the same however many
// stripes there are. A thread whose stripe isn't open uses the exact count instead, and opens the
// stripe for the next time. A bit in the exact word, which stands for every kBits-th stripe, says
// which stripes close() must look at.
//
//   open()   O1 sets the stripe's bit in the exact word, or gives up if kClosed is set there.
//            O2 exchanges the stripe for an open name that counts 0, or gives up if it is open
//               already, or shut in this generation.
//   close()  C1 sets kClosed in the exact word, and so knows which bits are set.
//            C2 exchanges each stripe of those bits for the generation's shut name.
//
// Why no stripe is open once C2 has passed it: the opener holds a reference, so the keyval isn't
// gone before it is done with O2, and all of this is about one generation. If O1 comes before C1,
// C2 passes the stripe; from then on the stripe is shut in this generation, so that O2 gives up. An
// opener that is stopped holds back nobody. (A stripe that was last shut 256 generations ago looks
// shut in this one. The keyval then uses the exact count, which is right too.)
//
// Invariants
//   I1 The open stripes and exact add up to the references, modulo 2^32, until the thread that has
//      closed the stripes sets kCollected.
//   I2 After that exact is the number of references. Once it is 0 it stays 0 until reset().
//   I3 The count of a stripe that isn't open means nothing. A stripe is opened at most once in a
//      generation, and not after it was closed.
// Exactly one call finds kCollected set, or sets it, and takes exact to 0. It tells its caller so,
// and the caller ends the keyval.

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
// stripes. A stripe that was shut keeps the generation, and kShut in place of the marker; one that
// was never opened is 0.
namespace stripe {
inline constexpr uint32_t kKeyval = id::kMarkerMask | id::kGenerationMask | id::kKindMask;
inline constexpr uint32_t kNullCopyFn = 1u << 5;  // not copied: NULL_COPY_FN
inline constexpr uint32_t kNoDeleteFn = 1u << 9;  // has no delete_fn; a meta has the same bit
inline constexpr uint32_t kUnheld = 1u << 10;    // has one: what is attached begins unheld (meta.h)
inline constexpr uint32_t kFull = 1u << 11;      // has one: as yet only for full readers (meta.h)
inline constexpr uint32_t kNotDupFn = 1u << 12;  // not copied as by DUP_FN; in a meta it is 0
inline constexpr uint32_t kFlags = kNullCopyFn | kNoDeleteFn | kUnheld | kFull | kNotDupFn;
inline constexpr uint32_t kOpen = id::kMarker;
inline constexpr uint32_t kShut = kOpen >> 1;

enum class Name : uint32_t { kNone };
constexpr uint32_t bits(Name name) { return static_cast<uint32_t>(name); }
constexpr Name name(id::Keyval keyval, uint32_t flags) {
  return Name{(id::bits(keyval) & kKeyval) | flags};
}
constexpr bool has(Name name, uint32_t flag) { return (bits(name) & flag) != 0; }
constexpr Name name_in(uint64_t stripe) { return Name{static_cast<uint32_t>(stripe)}; }
// The name of a stripe that was shut in the generation of a keyval.
constexpr Name shut(id::Keyval keyval) {
  return Name{(id::bits(keyval) & id::kGenerationMask) | kShut};
}
// Whether it is the name of an open stripe of that keyval.
constexpr bool names(Name name, id::Keyval keyval) {
  return ((bits(name) ^ id::bits(keyval)) & kKeyval) == 0;
}
}  // namespace stripe

class References {
 public:
  using Counter = Atomic<uint64_t>;

  // All counts are in the upper halves of their words, modulo 2^32. Where some threads attach and
  // others delete, a single count may wrap around; only the sum of all means something. The sum
  // can't, because memory has no room for 2^31 attributes under one keyval and their objects.
  static constexpr unsigned kCountShift = 32;
  static constexpr uint64_t kOne = uint64_t{1} << kCountShift;

  // The lower half of the exact word has the generation where the keyval has it, and:
#if defined(ATTRCACHE_MODEL)
  static constexpr unsigned kBits = 2;  // few enough for a model to have two stripes of one bit
#else
  static constexpr unsigned kBits = 16;
#endif
  static constexpr uint32_t kOpened = (1u << kBits) - 1;  // where stripes may be open
  static constexpr uint32_t kClosed = 1u << 30;           // no further stripe may be opened
  static constexpr uint32_t kCollected = 1u << 31;        // the stripes' counts are in exact

  // There are mask + 1 stripes, a power of two. Each is 2^shift counters after the one before.
  References(Counter& exact, Counter* first, unsigned shift, unsigned mask)
      : exact_(exact), first_(first), shift_(shift), mask_(mask) {}

  // Begins the keyval's generation. Only the creator of the keyval may call this, before it
  // publishes the keyval.
  static void reset(Counter& exact, id::Keyval keyval) {
    exact.store(generation_of(keyval), kRelease);  // (R6) pairs with R3
  }

  Counter& stripe_of(unsigned ordinal) const { return first_[size_t{ordinal & mask_} << shift_]; }

  // Takes a reference on a keyval, unless it is gone. Lock-free.
  bool acquire_exact(id::Keyval keyval) const {
    for (;;) {
      // (R3) Acquire: a thread that finds the keyval gone must see its attributes deleted (R5,
      // R6).
      uint64_t word = exact_.load(kAcquire);
      if (!is_of(word, keyval) || ended(word)) return false;
      // Relaxed: R3 has acquired what reset() stored (R6), or an update that continues R6's release
      // sequence, and any update continues those of R5 and R6.
      if (exact_.compare_exchange_weak(word, word + kOne, kRelaxed, kRelaxed)) return true;
    }
  }

  // Takes a reference in one attempt, on a keyval whose stripe is open, and sets *name to that; or
  // on a stripe that is open and held `word`. False: try the exact count instead. Wait-free.
  [[gnu::always_inline]] static bool acquire_open(Counter& stripe, id::Keyval keyval,
                                                  stripe::Name* name) {
    const uint64_t word = stripe.load(kRelaxed);  // (R1) a guess for R2
    *name = stripe::name_in(word);
    if (!stripe::names(*name, keyval)) [[unlikely]]
      return false;
    return acquire_open(stripe, word);
  }
  static bool acquire_open(Counter& stripe, uint64_t word) {
    // (R2) Acquire: it reads what the opener stored (O2), or an update that continues O2's release
    // sequence, so what the creator wrote is seen. It need not release, because any update
    // continues the release sequences of R4 and O2.
    return stripe.compare_exchange_strong(word, word + kOne, kAcquire, kRelaxed);
  }

  // Opens a thread's stripe, unless it is open already or the keyval is freed. The caller holds a
  // reference. Lock-free.
  [[gnu::noinline]] void open(unsigned ordinal, id::Keyval keyval, uint32_t flags) {
    const uint32_t bit = 1u << (ordinal & mask_ & (kBits - 1));
    uint64_t word = exact_.load(kRelaxed);
    do {
      if ((word & kClosed) != 0) return;
      if ((word & bit) != 0) break;
      // (O1) Relaxed: it says only that close() must look at the stripe.
    } while (!exact_.compare_exchange_weak(word, word | bit, kRelaxed, kRelaxed));
    Counter& stripe = stripe_of(ordinal);
    uint64_t old = stripe.load(kRelaxed);
    do {
      if (opened(old) || stripe::name_in(old) == stripe::shut(keyval)) return;
      // (O2) Release: hands on to R2 what the creator wrote, which R3 has acquired.
    } while (!stripe.compare_exchange_weak(old, stripe::bits(stripe::name(keyval, flags)), kRelease,
                                           kRelaxed));
  }

  // Drops a reference. False: the stripe isn't open, the reference is still held, and the caller
  // must drop it by drop_exact(). Wait-free.
  static bool drop_open(Counter& stripe) {
    // (R4) release: all that this thread did with the keyval comes before the keyval's end, whose
    // thread acquires it by R7. If the stripe isn't open, what is left in it means nothing (I3).
    return opened(stripe.fetch_sub(kOne, kRelease));
  }

  // Drops a reference on the exact count. True: it was the last, and the caller must end the
  // keyval. Wait-free.
  [[gnu::noinline]] bool drop_exact() {
    // (R5) acq_rel: the thread that drops the last reference sees what all others did before they
    // dropped theirs.
    return ended(exact_.fetch_sub(kOne, kAcqRel) - kOne);
  }

  // Whether nobody has ever held a reference, and the keyval isn't freed.
  bool unused(id::Keyval keyval) const {
    return exact_.load(kRelaxed) == generation_of(keyval);  // only the creator asks
  }

  // Ends the count if there is no reference and no stripe was opened. True: the caller must end the
  // keyval. Wait-free.
  static bool end_unused(Counter& exact, id::Keyval keyval) {
    // Relaxed: this reads what reset() stored, so nobody ever held a reference: a thread that takes
    // one on exact opens a stripe before it can drop it, and the stripe's bit stays, or kClosed
    // does. So there is nothing that must come before the keyval's end, and a thread that finds the
    // keyval gone (R3) has no attribute to see deleted.
    uint64_t word = generation_of(keyval);
    return exact.compare_exchange_strong(word, word | kClosed | kCollected, kRelaxed, kRelaxed);
  }

  // Closes the stripes, and adds what they counted to the exact count. kGone: they were closed
  // before, or end_unused() was faster. kEnded: no reference was left, and the caller must end the
  // keyval. Lock-free.
  enum class Closed { kGone, kEnded, kInUse };
  [[gnu::noinline]] Closed close(id::Keyval keyval) {
    uint64_t word = exact_.load(kRelaxed);
    do {
      if (!is_of(word, keyval) || (word & kClosed) != 0) return Closed::kGone;
      // (C1) Relaxed: it says only that no more bits may be set.
    } while (!exact_.compare_exchange_weak(word, word | kClosed, kRelaxed, kRelaxed));
    uint32_t counted = 0;
    for_each_opened(word, [&counted, keyval](Counter& stripe) {
      // (C2, R7) acquire: pairs with R4.
      const uint64_t before = stripe.exchange(stripe::bits(stripe::shut(keyval)), kAcquire);
      if (opened(before)) counted += count_in(before);
    });
    const uint64_t change = uint64_t{counted} << kCountShift | kCollected;
    const uint64_t exact = exact_.fetch_add(change, kAcqRel) + change;  // (R5) pairs with R4, R5
    return ended(exact) ? Closed::kEnded : Closed::kInUse;
  }

  // The number of references. It is approximate while others take or drop one, or close the
  // stripes.
  uint64_t count() const {
    // Acquire: if it has what the stripes counted, they are seen to be closed (R7 before R5).
    const uint64_t exact = exact_.load(kAcquire);
    uint32_t counts = count_in(exact);
    for_each_opened(exact, [&counts](const Counter& stripe) {
      const uint64_t word = stripe.load(kAcquire);
      if (opened(word)) counts += count_in(word);
    });
    return static_cast<int32_t>(counts) > 0 ? counts : 0;
  }

 private:
  static uint32_t count_in(uint64_t word) { return static_cast<uint32_t>(word >> kCountShift); }
  static bool opened(uint64_t word) { return (word & stripe::kOpen) != 0; }
  // The generation, at its place in the exact word.
  static uint64_t generation_of(id::Keyval keyval) {
    return id::bits(keyval) & id::kGenerationMask;
  }
  static bool is_of(uint64_t exact, id::Keyval keyval) {
    return ((exact ^ id::bits(keyval)) & id::kGenerationMask) == 0;
  }
  // Whether the keyval with this exact word is gone.
  static bool ended(uint64_t exact) { return (exact & kCollected) != 0 && count_in(exact) == 0; }
  // Visits the stripes whose bits are set in an exact word.
  template <typename Visit>
  void for_each_opened(uint64_t exact, Visit visit) const {
    for (uint32_t left = exact & kOpened; left != 0; left &= left - 1) {
      for (auto s = static_cast<unsigned>(__builtin_ctz(left)); s <= mask_; s += kBits)
        visit(stripe_of(s));
    }
  }

  Counter& exact_;
  Counter* const first_;
  const unsigned shift_;
  const unsigned mask_;
};

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_REFERENCES_H_
