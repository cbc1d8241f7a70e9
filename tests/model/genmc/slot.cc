// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The steps of a slot (lib/table/slot.h) and announcements, over a Pair of 8 bytes: borrow and
// give_back, delete and replacing set, as hold.cc, attribute.cc and claimed.cc take the steps; and
// what those are told who wait for the end of a set, which is awaited.cc as it ships.

#include "table/slot.h"

#include "table/awaited.cc"
#include "tests/model/genmc/harness.h"

namespace attrcache::genmc {

constexpr uint64_t meta_of(uint64_t number) { return meta::kVisible | number; }

Pair slot_;
Readers readers;
constinit volatile int contents[4] = {};  // of values; 0: deleted, or not written yet
constinit bool deleted[3] = {};

void begin(uint64_t more = 0) {
  contents[1] = 1;
  slot_.store_unshared({1, meta_of(1) | more});
}

template <unsigned kThread>
constexpr auto borrow = [] {
  SlotContent now = slot_.load();
  for (;;) {
    if (!meta::visible(now.meta) || meta::deleting(now.meta)) return;
    const uint64_t m = now.meta;
    readers.announce(kThread, slot_, Says::kBorrows, m);
    if (!meta::read(m)) {
      if (slot::read(slot_, now)) break;
    } else {
      now = slot_.load();
      if (now.meta == m) break;
    }
    readers.withdraw(kThread);
  }
  expect(contents[now.value] == static_cast<int>(now.value));
  readers.withdraw(kThread);
};

// Claims what is attached, and waits for those who hold it.
bool claim(slot::Claim& claim, SlotContent* claimed, slot::Claim::Of of) {
  uint64_t m;
  do {
    *claimed = slot_.load();
    m = claimed->meta;
    if (!meta::visible(m) || meta::deleting(m)) return false;
  } while (!claim.take(slot_, m, of));
  if (!meta::read(m)) return true;
  readers.heavy_fence();
  const bool held = readers.any([m](const Announcement& cell, uintptr_t what) {
    return Announcement::is_about(what, &slot_) &&
           (Announcement::holds(what) || Announcement::is_promised(what)) &&
           meta::sequence(cell.meta.load(kRelaxed)) == meta::sequence(m);
  });
  if (held) __VERIFIER_assume(false);  // it would wait
  claim.seen_off();
  return true;
}

template <unsigned kThread>
constexpr auto remove = [] {
  slot::Claim mine(readers);
  SlotContent claimed;
  if (!claim(mine, &claimed, slot::Claim::Of::kDelete)) return;
  contents[claimed.value] = 0;
  deleted[kThread] = true;
  mine.detach();
};
constexpr auto replace = [] {
  slot::Claim mine(readers);
  SlotContent claimed;
  contents[2] = 2;
  if (!claim(mine, &claimed, slot::Claim::Of::kReplacingSet)) return;
  contents[claimed.value] = 0;
  mine.replace({2, meta_of(2)});
};
// A delete whose delete_fn fails.
constexpr auto try_to_remove = [] {
  slot::Claim mine(readers);
  SlotContent claimed;
  if (!claim(mine, &claimed, slot::Claim::Of::kDelete)) return;
  contents[claimed.value] = 0;
  contents[claimed.value] = static_cast<int>(claimed.value);
  mine.restore();
};

// Waits for the end of a set, and uses what it is handed.
template <unsigned kThread>
constexpr auto await_set = [] {
  const uint64_t m = slot_.load_meta();
  if (!meta::replacing(m)) return;
  Announcement& wait = readers.announce_wait(kThread, slot_, m);
  const bool said = slot::await(slot_, m);
  uintptr_t what = wait.what.load(kAcquire);
  if (said && Announcement::awaits(what)) {
    if (((slot_.load_meta() ^ m) & meta::kClaim) == 0) __VERIFIER_assume(false);  // it would wait
    what = wait.what.load(kAcquire);
    // Who comes before S14 is promised the value before the set ends.
    expect(!Announcement::awaits(what) || meta::closed(m));
  }
  if (Announcement::is_promised(what)) return;  // it would wait for what all_answered() asks for
  if (Announcement::awaits(what)) {
    uintptr_t awaits = what;
    const auto taken = static_cast<uintptr_t>(Says::kTaken);
    if (!wait.what.compare_exchange_strong(awaits, taken, kAcqRel, kAcquire))
      __VERIFIER_assume(false);  // it would look again
    return;
  }
  if (!Announcement::holds(what)) return;
  const uint64_t value = wait.more.load(kRelaxed);
  expect(value == 1 || value == 2);
  expect(contents[value] == static_cast<int>(value));
  Readers::retract(wait);
};
// Whether nobody waits in vain, now that all sets have ended.
bool all_answered() {
  return !readers.any_wait([](const Announcement&, uintptr_t what) {
    return Announcement::awaits(what) || Announcement::is_promised(what);
  });
}
// A replacing set whose delete_fn fails.
constexpr auto try_to_replace = [] {
  slot::Claim mine(readers);
  SlotContent claimed;
  if (!claim(mine, &claimed, slot::Claim::Of::kReplacingSet)) return;
  mine.restore();
};

void the_first_borrow() {
  begin();
  run(borrow<0>, remove<0>);
  expect(deleted[0]);
}
void a_later_borrow() {
  begin(meta::kRead);
  run(borrow<0>, remove<0>);
  expect(deleted[0]);
}
void two_borrows() {
  begin();
  run(borrow<0>, borrow<1>, remove<0>);
}
void two_deletes() {
  begin();
  run(borrow<0>, remove<0>, remove<1>);
  expect(deleted[0] != deleted[1]);
}
void a_replacing_set() {
  begin(meta::kRead);
  run(borrow<0>, replace);
  expect(slot_.load().value == 2 || contents[1] == 1);
}
void a_delete_that_fails() {
  begin(meta::kRead);
  run(borrow<0>, try_to_remove, remove<0>);
}

void an_awaited_set() {
  begin();
  run(await_set<0>, replace, remove<0>);
  expect(all_answered());
}
void a_set_that_two_await() {
  begin();
  run(await_set<0>, await_set<1>, replace);
  expect(all_answered());
}
void an_awaited_set_that_fails() {
  begin();
  run(await_set<0>, try_to_replace, remove<0>);
  expect(all_answered());
}

}  // namespace attrcache::genmc

ATTRCACHE_GENMC_MAIN
