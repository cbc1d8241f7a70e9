// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/circle.h"

#include "table/meta.h"

namespace attrcache {
namespace {

// For whom a thread waits; 0 if it doesn't.
uint64_t awaited_by(Readers& readers, uint64_t who) {
  uint64_t whom = 0;
  readers.any_wait([&](Announcement& wait, uintptr_t what) {
    if (wait.who.load(kRelaxed) != who) return false;
    const Pair* const slot = Announcement::slot(what);
    if (Announcement::awaits(what)) {
      whom = who_replaces(readers, *slot, wait.meta.load(kRelaxed));
      return true;
    }
    if (Announcement::says(what) != Says::kSeeks) return false;
    // It waits as long as the other one holds something there.
    const uint64_t sought = wait.more.load(kRelaxed);
    const bool holds = readers.any([&](Announcement& hold, uintptr_t held) {
      return Announcement::is_about(held, slot) && Announcement::holds(held) &&
             hold.who.load(kRelaxed) == sought;
    });
    if (holds) whom = sought;
    return true;
  });
  return whom;
}

bool leads_to(Readers& readers, uint64_t who, uint64_t me) {
  // A circle that the caller isn't in has somebody else to notice it. It is left when the walk
  // comes to where it was at its last power of two of steps (Brent's algorithm).
  uint64_t been = 0;
  for (unsigned steps = 1; who != 0 && who != been; ++steps) {
    if (who == me) return true;
    if ((steps & (steps - 1)) == 0) been = who;
    who = awaited_by(readers, who);
  }
  return false;
}

}  // namespace

uint64_t who_replaces(const Readers& readers, const Pair& slot, uint64_t m) {
  uint64_t who = 0;
  readers.any([&](Announcement& cell, uintptr_t what) {
    if (what != Announcement::of(&slot, Says::kReplaces)) return false;
    if (meta::sequence(cell.meta.load(kRelaxed)) != meta::sequence(m)) return false;
    who = cell.who.load(kRelaxed);
    return true;
  });
  return who;
}

bool waits_for_me(Readers& readers, uint64_t who) {
  const uint64_t me = readers.threads().identity();
  // Twice, because a thread on the way may have gone on while the first walk was under way.
  return leads_to(readers, who, me) && leads_to(readers, who, me);
}

}  // namespace attrcache
