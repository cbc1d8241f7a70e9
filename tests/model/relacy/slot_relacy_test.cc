// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The slot protocol in Relacy: lib/table/slot.h and attribute.cc, by its numbers S1 to S12. Value
// and meta are one 64-bit word here, for Relacy has no atomics of 16 bytes:
//
//   63 .. 32  value
//   31 .. 8   sequence number
//   7 .. 3    holds, a signed number: pins, or waiting pinners
//   2         replacing
//   1         visible
//   0         deleting
//
// What is left out, then, is a get that reads the two halves; what swaps only the meta of a slot
// swaps the whole word, whose value the unique meta implies. As in platform/pair_x86.h, a load
// acquires, and a swap acquires and releases. Who waits yields and looks again: that nobody sleeps
// through what it waits for is for the explorer to show.

#include "tests/model/relacy/relacy_test.h"

namespace attrcache::relacy {
namespace {

using SlotContent = uint64_t;
constexpr SlotContent kDeleting = 1, kVisible = 2, kReplacing = 4, kHold = 8, kHolds = 31 * kHold;
constexpr SlotContent kSequence = 256;  // and above; the value is in the upper half

constexpr int holds(SlotContent w) {
  const int field = static_cast<int>(w / kHold & 31);
  return field < 16 ? field : field - 32;
}
constexpr SlotContent with_holds(SlotContent w, int holds) {
  return (w & ~kHolds) | (static_cast<SlotContent>(holds) * kHold & kHolds);
}
constexpr int waiters(SlotContent w) { return holds(w) < 0 ? -holds(w) : 0; }

constexpr int kValues = 4;

// What is left out of the protocol, to see that it is missed.
enum Omission { kNothing, kPinCheck, kClaim, kHiddenCheck, kHandOver };

template <Omission kOmitted>
struct Slot {
  rl::atomic<SlotContent> word;
  rl::atomic<SlotContent> tick;
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

  SlotContent load() { return word($).load(rl::mo_acquire); }
  bool compare_exchange(SlotContent& expected, SlotContent desired) {
    return word($).compare_exchange_strong(expected, desired, rl::mo_acq_rel, rl::mo_acquire);
  }
  bool compare_exchange(SlotContent&& expected, SlotContent desired) {
    return compare_exchange(expected, desired);
  }

  // False: it failed, and the value is as it was.
  bool delete_fn(SlotContent claimed) {
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

  SlotContent made(int value) {
    const SlotContent sequence = tick($).fetch_add(1u, rl::mo_relaxed) + 1;
    return SlotContent(value) << 32 | sequence * kSequence | kVisible;
  }
  void give_way() { rl::yield(1, $); }

  static bool is(SlotContent now, SlotContent claimed) {
    return ((now ^ claimed) & ~(kVisible | kHolds)) == 0;
  }
  // Those who wait get their pins with what comes into the slot.
  static SlotContent hand_over(SlotContent desired, SlotContent before) {
    return kOmitted == kHandOver ? desired : with_holds(desired, waiters(before));
  }

  // (S2), and waits for the pins that are there.
  bool claim(SlotContent now, SlotContent kind, SlotContent* claimed) {
    *claimed = (now | kDeleting | kind) & ~kHolds;
    if (kOmitted != kClaim && !compare_exchange(SlotContent(now), now | kDeleting | kind))
      return false;
    if (kOmitted == kPinCheck) return true;
    for (SlotContent w = load(); is(w, *claimed) && holds(w) > 0; w = load()) give_way();
    return true;
  }

  // (S9) unless somebody has attached another value. Where pinners wait, they are to learn it.
  void detach(SlotContent claimed) {
    for (SlotContent now = load(); is(now, claimed);) {
      if (compare_exchange(now, waiters(now) != 0 ? now & ~(kVisible | kReplacing) : 0)) return;
    }
  }
  // (S5) or, if it is hidden, its end: then the caller drops its reference.
  bool restore(SlotContent claimed) {
    for (SlotContent now = load(); is(now, claimed);) {
      if ((now & kVisible) == 0 && kOmitted != kHiddenCheck) break;
      if (compare_exchange(now, hand_over((claimed | kVisible) & ~(kDeleting | kReplacing), now)))
        return true;
    }
    detach(claimed);
    return false;
  }

  // Whether the value is attached: a failing delete_fn of the old one keeps it off.
  bool set(int value) {
    bodies[value]($) = value + 1;
    SlotContent desired = made(value);
    SlotContent now = load();
    for (;;) {
      if (now == 0 || ((now & kDeleting) != 0 && holds(now) <= 0)) {
        if (compare_exchange(now, hand_over(desired, now))) return note(value);  // (S1), (S7)
        continue;
      }
      if ((now & kDeleting) != 0) {
        give_way();
        now = load();
        continue;
      }
      SlotContent claimed;
      if (!claim(now, kReplacing, &claimed)) {
        now = load();
        continue;
      }
      if (!delete_fn(now)) {
        if (!restore(claimed)) abandon(now);
        return false;
      }
      desired = made(value);
      for (now = load(); is(now, claimed);) {
        if (compare_exchange(now, hand_over(desired, now))) return note(value);  // (S8)
      }
    }
  }

  void erase() {
    SlotContent now = load();
    SlotContent claimed;
    for (;; now = load()) {
      if (now == 0 || (now & kVisible) == 0) return;
      if ((now & kDeleting) == 0) {
        if (claim(now, 0, &claimed)) break;
      } else if (compare_exchange(SlotContent(now), now & ~kVisible)) {  // (S6)
        gone[now >> 32]($).store(1, rl::mo_relaxed);
        return;
      }
    }
    if (delete_fn(now)) {
      detach(claimed);
    } else if (!restore(claimed)) {
      abandon(now);
    }
  }

  // copy_all's part: pins the value, reads what it points to, unpins it. Waits for a replacing set.
  void copy() {
    bool waits = false;
    SlotContent now = load();
    for (;; now = load()) {
      if (waits) {
        if (holds(now) > 0) break;
        if ((now & kReplacing) != 0) {
          give_way();
        } else if (compare_exchange(SlotContent(now),
                                    waiters(now) > 1 ? now + kHold : 0)) {  // (S12)
          return;
        }
        continue;
      }
      if ((now & kVisible) == 0) return;
      if ((now & kDeleting) == 0) {
        if (compare_exchange(SlotContent(now), with_holds(now, holds(now) + 1))) break;  // (S10)
      } else if ((now & kReplacing) == 0) {
        return;
      } else if (holds(now) > 0) {
        give_way();
      } else {
        waits = compare_exchange(SlotContent(now), with_holds(now, holds(now) - 1));  // (S11)
      }
    }
    now = load();
    const int value = static_cast<int>(now >> 32);
    RL_ASSERT(bodies[value]($) == value + 1);
    word($).fetch_sub(kHold, rl::mo_acq_rel);
  }

  bool note(int value) {
    attached[value]($).store(1, rl::mo_relaxed);
    return true;
  }
  // Of a value whose delete_fn failed after another thread's delete had said that it is gone:
  // nobody calls delete_fn again, as attrcache.h has it.
  void abandon(SlotContent claimed) { deleted[claimed >> 32]($).fetch_add(1, rl::mo_relaxed); }

  // Every value that was attached is in the slot, or its end came, once; what is gone stays gone.
  void finish() {
    const SlotContent now = word($).load(rl::mo_relaxed);
    RL_ASSERT((now & (kDeleting | kHolds)) == 0);
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
constexpr const char* kCopySets[] = {"s", "ce", "c"};
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
  good &= check<Model<kCopySets, 3, 1>>("slot, copies beside sets, one fails", 200000);
  good &= check<Model<kCopySets, 3, 0, kHandOver>>("slot that hands no pins over", 1000000,
                                                   Expect::kBroken);
  good &= check<Model<kErases, 2, 0, kClaim>>("slot without claims", 1000000, Expect::kBroken);
  good &= check<Model<kErases, 3, 1, kHiddenCheck>>("slot that restores hidden values", 1000000,
                                                    Expect::kBroken);
  return good;
}

}  // namespace
}  // namespace attrcache::relacy

int main() { return attrcache::relacy::run() ? 0 : 1; }
