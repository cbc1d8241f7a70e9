// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Which records are in use, so that a look at all announcements costs what there is, not what there
// once was: a thread enters its record when it first uses it, and a thread that looks takes out the
// records that it finds quiet and without a thread. The records are in groups of kNearOrdinals, in
// the order of their ordinals; a flag in the group's word says that a record is in use, and one in
// a word above it that any of the group is.
//
// A thread N enters (A1, A2) before it announces anything; a thread S that looks takes records out:
//
//   N   takes the ordinal                  S   finds a record quiet, and nobody with its ordinal
//   A1  sets the record's flag             A3  reads the word above
//   A2  sets the group's flag              A4  reads the group's
//                                              finds the same of the record once more
//                                          A5  clears its flag by a compare-and-swap with A4's word
//                                          A6  if none is left in the group, clears the group's,
//                                              likewise with A3's
//
// Each word counts its settings, and A1 and A2 set, and count, even what is set already. So if A5
// or A6 succeeds, nobody has entered since A4 or A3: a later entry sets the flag again. And A4
// or the look at the ordinal acquires what the record's last thread has done, so the record is
// quiet. A thread that looks after a fence finds each record that has announced something before.

#ifndef ATTRCACHE_READERS_ACTIVE_RECORDS_H_
#define ATTRCACHE_READERS_ACTIVE_RECORDS_H_

#include <cstdint>

#include "platform/atomic.h"
#include "platform/thread.h"

namespace attrcache {

class ActiveRecords {
 public:
  using Word = Atomic<uint64_t>;  // flags in the low half, the count of settings in the high one
  static constexpr unsigned kFlags = 32;
#ifdef ATTRCACHE_MODEL
  static constexpr unsigned kWords = 1;  // each execution makes them anew
#else
  static constexpr unsigned kWords = 64;
#endif
  static constexpr unsigned kGroups = kWords * kFlags;
  static_assert(kNearOrdinals <= kFlags);

  // Enters a record, by its place in its group. Lock-free.
  void enter(unsigned group, Word& word, unsigned place) {
    set(word, place);                             // (A1) pairs with A4
    set(above_[group / kFlags], group % kFlags);  // (A2) pairs with A3
    // Relaxed: as in A1, this comes before the first announcement.
    unsigned words = words_.load(kRelaxed);
    while (words <= group / kFlags &&
           !words_.compare_exchange_weak(words, group / kFlags + 1, kRelaxed, kRelaxed)) {
    }
  }

  // All groups that were ever entered are below this one.
  unsigned end() const { return words_.load(kRelaxed) * kFlags; }

  // Looks at each record that was entered, by look(record, &quiet), until that returns true;
  // returns whether it did. A look clears `quiet` if it finds a cell in use; is_quiet(record) asks
  // that alone. `records_of` finds a group's records; taken(group, place) says whether anybody has
  // the record's ordinal, and acquires what its last thread has done if not.
  template <typename RecordsOf, typename Look, typename IsQuiet, typename Taken>
  [[gnu::always_inline]] bool any(RecordsOf records_of, Look look, IsQuiet is_quiet, Taken taken) {
    // Relaxed: as with announcements, it is a fence that makes this see what was entered before.
    const unsigned words = words_.load(kRelaxed);
    for (unsigned w = 0; w < words; ++w) {
      for (uint32_t groups = flags_of(above_[w]); groups != 0; groups &= groups - 1) {
        const unsigned group = w * kFlags + static_cast<unsigned>(__builtin_ctz(groups));
        auto* const records = records_of(group);
        uint32_t flags = flags_of(records->group);
        if (flags == 0) [[unlikely]]  // A6 has failed, in another look
          take_out(group, records, kFlags, is_quiet, taken);
        for (; flags != 0; flags &= flags - 1) {
          const auto place = static_cast<unsigned>(__builtin_ctz(flags));
          bool quiet = true;
          if (look(records[place], &quiet)) return true;
          if (quiet && !taken(group, place)) [[unlikely]]
            take_out(group, records, place, is_quiet, taken);
        }
      }
    }
    return false;
  }

 private:
  static constexpr uint64_t kOnce = uint64_t{1} << 32;

  static void set(Word& word, unsigned flag) {
    uint64_t now = word.load(kRelaxed);
    // Release: a thread that reads the flag sees the records of the group.
    while (
        !word.compare_exchange_weak(now, (now + kOnce) | uint64_t{1} << flag, kRelease, kRelaxed)) {
    }
  }
  // Acquire: a thread that finds a group's flag sees its records.
  static uint32_t flags_of(const Word& word) { return static_cast<uint32_t>(word.load(kAcquire)); }
  // Takes out a record, or none if `place` is kFlags, and then the group if none is left in it. The
  // compare-and-swaps release what the record's last thread has done, which this one has acquired:
  // to looks that don't find the record any more.
  template <typename Record, typename IsQuiet, typename Taken>
  [[gnu::noinline]] void take_out(unsigned group, Record* records, unsigned place, IsQuiet is_quiet,
                                  Taken taken) {
    uint64_t above = above_[group / kFlags].load(kAcquire);  // (A3)
    uint64_t entered = records->group.load(kAcquire);        // (A4)
    if (place != kFlags) {
      if (taken(group, place) || !is_quiet(records[place])) return;
      const uint64_t rest = entered & ~(uint64_t{1} << place);
      if (!records->group.compare_exchange_strong(entered, rest, kRelease, kRelaxed))
        return;  // (A5)
      entered = rest;
    }
    if (static_cast<uint32_t>(entered) != 0) return;
    // (A6)
    above_[group / kFlags].compare_exchange_strong(above, above & ~(uint64_t{1} << group % kFlags),
                                                   kRelease, kRelaxed);
  }

  Word above_[kWords] = {};
  Atomic<unsigned> words_{0};  // how many of above_ were ever set
};

}  // namespace attrcache

#endif  // ATTRCACHE_READERS_ACTIVE_RECORDS_H_
