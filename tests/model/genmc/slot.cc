// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The steps of a slot (lib/table/slot.h) and announcements, over a Pair of 8 bytes: borrow and
// give_back, delete and replacing set, as hold.cc, attribute.cc and claimed.cc take the steps.

#include "table/slot.h"

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
    return Announcement::is_about(what, &slot_) && Announcement::holds(what) &&
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

}  // namespace attrcache::genmc

ATTRCACHE_GENMC_MAIN
