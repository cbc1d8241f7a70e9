// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/awaited.h"

#include "platform/wait.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// Finds those who wait in a closed slot, and promises them `then`. Returns their cells, each with
// the next one in `more`. From the step that attaches `then`, they hold it: whoever claims that finds
// them, be they told yet or not.
Announcement* promise(Readers& readers, const Pair& slot, uint64_t claimed, SlotContent then) {
  Announcement* promised = nullptr;
  // Who has taken S11 on this claim is found, since S14 has acquired that. Others are just about to
  // take it, and may be found or not.
  readers.any_wait([&](Announcement& cell, uintptr_t what) {
    const auto same = [&] { return meta::same_keyval(cell.meta.load(kRelaxed), claimed); };
    if (!Announcement::is_about(what, &slot) || !Announcement::awaits(what) || !same())
      return false;
    const uintptr_t awaits = what;
    const bool borrows = Announcement::says(what) == Says::kAwaitsToBorrow;
    const uintptr_t is_to = Announcement::of(&slot, borrows ? Says::kIsToBorrow : Says::kIsToCopy);
    // Acquires and releases: pairs with announce_wait(), and with the exchange of who gives the wait
    // up.
    if (!cell.what.compare_exchange_strong(what, is_to, kAcqRel, kRelaxed)) return false;
    // Asked again, since the cell may be about another wait than the one that was looked at.
    if (!same()) {
      cell.what.store(awaits, kRelease);
      return false;
    }
    if (!meta::empty(then.meta)) cell.meta.store(then.meta, kRelease);  // (F3)
    cell.more.store(reinterpret_cast<uintptr_t>(promised), kRelaxed);
    promised = &cell;
    return false;
  });
  return promised;
}

// Tells them. It doesn't touch the slot, whose memory may have been released.
void tell(Announcement* promised, const Pair& slot, SlotContent then) {
  while (promised != nullptr) {
    Announcement& cell = *promised;
    promised = reinterpret_cast<Announcement*>(static_cast<uintptr_t>(cell.more.load(kRelaxed)));
    const bool borrows = Announcement::says(cell.what.load(kRelaxed)) == Says::kIsToBorrow;
    const uintptr_t holds = Announcement::of(&slot, borrows ? Says::kBorrows : Says::kCopies);
    cell.more.store(then.value, kRelaxed);
    cell.what.store(meta::empty(then.meta) ? uintptr_t(Says::kTaken) : holds,
                    kRelease);  // pairs with the loads of who waits
  }
}

}  // namespace

bool end_awaited(Readers& readers, Pair& slot, uint64_t claimed, SlotContent then) {
  if (meta::closed(claimed)) {
    wait_until_open(readers.threads(), slot);
    return false;
  }
  if (!slot.compare_exchange_meta(claimed, claimed | meta::kClosed)) return false;  // (S14)
  // Until it is open again, nobody else takes a step on the slot, so the next one doesn't fail.
  SlotContent closed = slot.load();
  if (!meta::empty(then.meta)) then.meta |= meta::kRead;
  Announcement* const promised = promise(readers, slot, claimed, then);
  if (then.value == closed.value) {  // which C may be reading at its address
    slot.compare_exchange_meta(closed.meta, then.meta);
  } else {
    slot.compare_exchange(closed, then);
  }
  tell(promised, slot, then);
  readers.wake(slot);
  return true;
}

void wait_until_open(const Threads& threads, const Pair& slot) {
  for (Backoff backoff; meta::closed(slot.load_meta());) threads.wait(backoff);
}

}  // namespace attrcache
