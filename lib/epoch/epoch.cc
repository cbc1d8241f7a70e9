// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "epoch/epoch.h"

namespace attrcache {

uint64_t Epoch::enter(Atomic<uint64_t>& pins) {
  for (;;) {
    const uint64_t now = epoch_.load(kSeqCst);  // (E1) pairs with E5
    pins.fetch_add(one(now), kSeqCst);  // (E2) before E3 in the one order of seq_cst; pairs with E4
    if (epoch_.load(kSeqCst) == now)
      return one(now);  // (E3) the epoch is the same, so E4 of any later advance sees this pin
    // seq_cst for the reason of E6: a retirer that this count has held up sees that the count is
    // gone, or leave() sees the retirer's list.
    pins.fetch_sub(one(now), kSeqCst);
  }
}

void Epoch::leave(Atomic<uint64_t>& pins, uint64_t one) {
  // (E6) release: our reads come before the reclaiming that E4 permits. It is seq_cst, and so is
  // E7, because EI3 needs both.
  pins.fetch_sub(one, kSeqCst);
  if (list_.load(kSeqCst) != nullptr) collect(0);  // (E7)
}

bool Epoch::advance() {
  uint64_t now = epoch_.load(kSeqCst);
  for (unsigned s = 0; s <= stripe_mask_; ++s) {
    // (E4) acquire: pairs with E6. The epoch before `now` shares its field with no other that can
    // have pins: those of now + 1 use another, and now + 2 isn't reached before this has been seen
    // to be 0.
    if ((stripes_[s].pins.load(kSeqCst) & field(now + 2)) != 0) return false;
  }
  epoch_.compare_exchange_strong(now, now + 1, kSeqCst,
                                 kRelaxed);  // (E5) if it fails, another thread has done it
  return true;
}

// Lets an item wait, because somebody is pinned who may have found it.
void Epoch::keep(Retired* item) {
  const uint64_t ripe = item->epoch + 2;  // read now: once pushed, the item may be reclaimed
  waiting_.fetch_add(1, kRelaxed);
  // Relaxed: E9 and E10 put it before E13, and whoever is handed the item by its owner, after this,
  // sees it.
  item->waiting.store(1, kRelaxed);
  push(item, item);
  collect(ripe);
}

void Epoch::push(Retired* first, Retired* last) {
  last->next = list_.load(kRelaxed);
  // (E9) release: pairs with E10. It is seq_cst, and so is E4, which follows, because EI3 needs
  // both.
  while (!list_.compare_exchange_weak(last->next, first, kSeqCst, kRelaxed)) {
  }
}

// Reclaims an item that waited, because its grace period is over.
void Epoch::reclaim_kept(Retired* item) {
  waiting_.fetch_sub(1, kRelaxed);
  if (item->reclaim != nullptr) {
    item->reclaim(item, memory_);
  } else {
    // (E13) release: the reads of those who were pinned, which E4 has acquired, come before what
    // the owner writes there next. From here on the owner may use the item again.
    item->waiting.store(0, kRelease);
  }
}

// Advances the epoch as long as no pin prevents it and something waits, and reclaims what has
// waited long enough. The items are not looked at before the epoch `ripe`, because none can be
// reclaimed before.
void Epoch::collect(uint64_t ripe) {
  while (advance()) {
    if (epoch_.load(kSeqCst) < ripe) continue;
    Retired* item = list_.exchange(nullptr, kSeqCst);  // (E10) acquire: pairs with E9
    const uint64_t now = epoch_.load(kSeqCst);
    Retired* kept = nullptr;
    Retired* last_kept = nullptr;
    while (item != nullptr) {
      Retired* next = item->next;
      if (item->epoch + 2 <= now) {
        reclaim_kept(item);
      } else {
        item->next = kept;
        kept = item;
        if (last_kept == nullptr) last_kept = item;
      }
      item = next;
    }
    if (kept == nullptr) return;
    push(kept, last_kept);
  }
}

void Epoch::drain() {
  Retired* item = list_.exchange(nullptr, kSeqCst);
  while (item != nullptr) {
    Retired* next = item->next;
    reclaim_kept(item);
    item = next;
  }
}

}  // namespace attrcache
