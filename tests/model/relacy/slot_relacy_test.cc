// SPDX-License-Identifier: Apache-2.0
//
// The slot protocol in Relacy: lib/table/attribute.cc, by its numbers S1 to S10. Value and meta are
// one 64-bit word here, {value, sequence, pins, visible, deleting}, for Relacy has no atomics of 16
// bytes. What is left out, then, is a get that reads the two halves; what swaps only the meta of a
// slot swaps the whole word, whose value the unique meta implies. As in platform/pair_x86.h, a load
// acquires, and a swap acquires and releases.

#include "tests/model/relacy/relacy_test.h"

namespace attrcache::relacy {
namespace {

using Word = uint64_t;
constexpr Word kDeleting = 1, kVisible = 2, kPin = 4, kPins = 15 * kPin;
constexpr Word kSequence = 64;  // and above; the value is in the upper half

constexpr int kValues = 4;

// What is left out of the protocol, to see that it is missed.
enum Omission { kNothing, kPinCheck, kClaim, kHiddenCheck };

template <Omission kOmitted>
struct Slot {
  rl::atomic<Word> word;
  rl::atomic<Word> tick;
  rl::var<int> bodies[kValues];       // what the values point to
  rl::atomic<int> deleted[kValues];   // how often delete_fn succeeded
  rl::atomic<int> attached[kValues];  // whether a set succeeded
  rl::atomic<int> gone[kValues];      // a delete by others has said so
  rl::atomic<int> failures;           // how often delete_fn is to fail

  void begin() {
    word($).store(0, rl::mo_relaxed);
    tick($).store(0, rl::mo_relaxed);
    failures($).store(0, rl::mo_relaxed);
    for (int v = 0; v < kValues; ++v) {
      deleted[v]($).store(0, rl::mo_relaxed);
      attached[v]($).store(0, rl::mo_relaxed);
      gone[v]($).store(0, rl::mo_relaxed);
      bodies[v]($) = 0;
    }
  }

  Word load() { return word($).load(rl::mo_acquire); }
  bool swap(Word& expected, Word desired) {
    return word($).compare_exchange_strong(expected, desired, rl::mo_acq_rel, rl::mo_acquire);
  }
  bool swap(Word&& expected, Word desired) { return swap(expected, desired); }

  // False: it failed, and the value is as it was.
  bool delete_fn(Word claimed) {
    const int value = static_cast<int>(claimed >> 32);
    bodies[value]($) = -1;  // a race with whoever copies or deletes it at the same time
    int left = failures($).load(rl::mo_relaxed);
    if (left > 0 &&
        failures($).compare_exchange_strong(left, left - 1, rl::mo_relaxed, rl::mo_relaxed)) {
      bodies[value]($) = value + 1;
      return false;
    }
    deleted[value]($).fetch_add(1, rl::mo_relaxed);
    return true;
  }

  Word made(int value) {
    const Word sequence = tick($).fetch_add(1u, rl::mo_relaxed) + 1;
    return Word(value) << 32 | sequence * kSequence | kVisible;
  }
  void give_way() { rl::yield(1, $); }

  // (S9) unless somebody has attached another value.
  void detach(Word claimed) {
    Word now = claimed | kDeleting;
    while (!swap(now, 0)) {
      if ((now | kVisible) != (claimed | kDeleting)) return;
    }
  }
  // (S5) or, if it is hidden, its end: then the caller drops its reference.
  bool restore(Word claimed) {
    Word now = claimed | kDeleting;
    if (swap(now, claimed)) return true;
    if (kOmitted != kHiddenCheck) {
      detach(claimed);
      return false;
    }
    swap(now, claimed);
    return true;
  }

  // Whether the value is attached: a failing delete_fn of the old one keeps it off.
  bool set(int value) {
    bodies[value]($) = value + 1;
    Word desired = made(value);
    Word now = load();
    for (;;) {
      if (now == 0 || (now & kDeleting) != 0) {
        if (swap(now, desired)) return note(value);  // (S1), (S7)
        continue;
      }
      if (kOmitted != kPinCheck && (now & kPins) != 0) {
        give_way();
        now = load();
        continue;
      }
      if (!claim(now)) {  // (S2)
        now = load();
        continue;
      }
      if (!delete_fn(now)) {
        if (!restore(now)) abandon(now);
        return false;
      }
      desired = made(value);
      Word claimed = now | kDeleting;
      if (swap(claimed, desired)) return note(value);  // (S8)
      if ((claimed | kVisible) == (now | kDeleting) && swap(claimed, desired)) return note(value);
      now = claimed;
    }
  }

  void erase() {
    Word now = load();
    for (;;) {
      if (now == 0) return;
      if ((now & kDeleting) != 0) {
        if ((now & kVisible) == 0) return;
        if (swap(Word(now), now & ~kVisible)) {  // (S6)
          gone[now >> 32]($).store(1, rl::mo_relaxed);
          return;
        }
      } else if (kOmitted != kPinCheck && (now & kPins) != 0) {
        give_way();
      } else if (claim(now)) {  // (S2)
        break;
      }
      now = load();
    }
    if (delete_fn(now)) {
      detach(now);
    } else if (!restore(now)) {
      abandon(now);
    }
  }

  bool claim(Word now) {
    if (kOmitted == kClaim) return true;
    return swap(Word(now), now | kDeleting);
  }

  // copy_all's part: pins the value, reads what it points to, unpins it.
  void copy() {
    Word now = load();
    for (;;) {
      if (now == 0 || (now & kDeleting) != 0 || (now & kVisible) == 0) return;
      if (swap(Word(now), now + kPin)) break;  // (S10)
      now = load();
    }
    const int value = static_cast<int>(now >> 32);
    RL_ASSERT(bodies[value]($) == value + 1);
    word($).fetch_sub(kPin, rl::mo_acq_rel);
  }

  bool note(int value) {
    attached[value]($).store(1, rl::mo_relaxed);
    return true;
  }
  // Of a value whose delete_fn failed after another thread's delete had said that it is gone:
  // nobody calls delete_fn again, as attrcache.h has it.
  void abandon(Word claimed) { deleted[claimed >> 32]($).fetch_add(1, rl::mo_relaxed); }

  // Every value that was attached is in the slot, or its end came, once; what is gone stays gone.
  void finish() {
    const Word now = word($).load(rl::mo_relaxed);
    RL_ASSERT((now & (kDeleting | kPins)) == 0);
    RL_ASSERT(now == 0 || (now & kVisible) != 0);
    RL_ASSERT(now == 0 || gone[now >> 32]($).load(rl::mo_relaxed) == 0);
    for (int v = 0; v < kValues; ++v) {
      const int there = now != 0 && static_cast<int>(now >> 32) == v ? 1 : 0;
      RL_ASSERT(there + deleted[v]($).load(rl::mo_relaxed) == attached[v]($).load(rl::mo_relaxed));
    }
  }
};

// What each thread does, in order: s(et), e(rase), c(opy).
template <const char* const* kThreads, int kCount, int kFailures, Omission kOmitted = kNothing>
struct Model : rl::test_suite<Model<kThreads, kCount, kFailures, kOmitted>, kCount> {
  Slot<kOmitted> slot;

  void before() {
    slot.begin();
    slot.set(0);
    slot.failures($).store(kFailures, rl::mo_relaxed);
  }
  void thread(unsigned index) {
    for (const char* step = kThreads[index]; *step != 0; ++step) {
      if (*step == 's') slot.set(static_cast<int>(index) + 1);
      if (*step == 'e') slot.erase();
      if (*step == 'c') slot.copy();
    }
  }
  void after() { slot.finish(); }
};

constexpr const char* kSets[] = {"s", "s", "s"};
constexpr const char* kSetErase[] = {"s", "e", "e"};
constexpr const char* kErases[] = {"e", "e", "e"};
constexpr const char* kCopies[] = {"cc", "s", "e"};
constexpr const char* kTwoCopies[] = {"c", "c", "e"};
constexpr const char* kMixed[] = {"se", "es", "c"};

bool run() {
  bool good = true;
  good &= check<Model<kSets, 3, 0>>("slot, three sets", 200000);
  good &= check<Model<kSetErase, 3, 0>>("slot, set and two deletes", 200000);
  good &= check<Model<kErases, 2, 0>>("slot, two deletes", 100000);
  good &= check<Model<kCopies, 3, 0>>("slot, copies, set, delete", 200000);
  good &= check<Model<kTwoCopies, 3, 0>>("slot, two copies, delete", 200000);
  good &= check<Model<kMixed, 3, 0>>("slot, all", 200000);
  good &= check<Model<kErases, 3, 1>>("slot, deletes, one fails", 200000);
  good &= check<Model<kSetErase, 3, 1>>("slot, set and deletes, one fails", 200000);
  good &= check<Model<kMixed, 3, 2>>("slot, all, two fail", 200000);
  good &= check<Model<kTwoCopies, 3, 0, kPinCheck>>("slot without regard to pins", 1000000,
                                                    Expect::kBroken);
  good &= check<Model<kErases, 2, 0, kClaim>>("slot without claims", 1000000, Expect::kBroken);
  good &= check<Model<kErases, 3, 1, kHiddenCheck>>("slot that restores hidden values", 1000000,
                                                    Expect::kBroken);
  return good;
}

}  // namespace
}  // namespace attrcache::relacy

int main() { return attrcache::relacy::run() ? 0 : 1; }
