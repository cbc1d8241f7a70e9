// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "epoch/epoch.h"

namespace attrcache {

Epoch::Guard::Guard(Epoch& epoch)
    // Relaxed: it doesn't matter if the epoch is another one by now (EI1).
    : epoch_(epoch), pin_(one(epoch.word_.load(kRelaxed))) {
  // (E1) pairs with E2: what was retired before isn't found
  epoch_.word_.fetch_add(pin_, kAcquire);
}

Epoch::Guard::~Guard() {
  // (E3) pairs with E2. Release: our reads come before the reclaiming. Acquire: for EI3, so that
  // the list may be read relaxed.
  epoch_.word_.fetch_sub(pin_, kAcqRel);
  if (epoch_.list_.load(kRelaxed) != nullptr) epoch_.collect();
}

// Goes on to the next epoch. False if a pin holds that up: the E3 that ends the pin comes after
// this E2.
bool Epoch::advance() {
  uint64_t word = read();
  do {
    if (other_pins(word) != 0) return false;
    // Relaxed: this hands over nothing; the E2 before it and after it do. And there is no ABA: a
    // word says by itself whether the epoch may go on, even if its number has come round.
  } while (!word_.compare_exchange_weak(word, word + kOneEpoch, kRelaxed, kRelaxed));
  return true;
}

// Lets an item wait, because a thread that is pinned may have found it.
void Epoch::keep(Retired* item, uint64_t epoch) {
  item->epoch = epoch;
  waiting_.fetch_add(1, kRelaxed);
  // Relaxed: E4 and E5 put it before E7, and a thread that the owner hands the item to after this
  // sees it.
  item->waiting.store(1, kRelaxed);
  push(item);
  collect();
}

void Epoch::push(Retired* item) {
  item->next = list_.load(kRelaxed);
  // (E4) release: pairs with E5
  while (!list_.compare_exchange_weak(item->next, item, kRelease, kRelaxed)) {
  }
}

// Advances the epoch as long as no pin prevents it and something waits, and reclaims what has
// waited long enough.
void Epoch::collect() {
  while (advance()) {
    Retired* item = list_.exchange(nullptr, kAcquire);  // (E5) pairs with E4
    // Read after the list, hence not before the items' own epochs: so the difference is an item's
    // age, modulo the 2^16 epochs in which the number comes round, and nothing is reclaimed too
    // early. An item that is a whole round old passes for new, and waits for two epochs more.
    const uint64_t now = epoch(read());
    bool kept = false;
    while (item != nullptr) {
      Retired* next = item->next;
      if (now - item->epoch >= 2 * kOneEpoch) {
        waiting_.fetch_sub(1, kRelaxed);
        if (item->reclaim != nullptr) {
          item->reclaim(item, memory_);
        } else {
          // (E7) release: the reads of threads that were pinned, which E2 has acquired, come before
          // what the owner writes there next. From here on the owner may use the item again.
          item->waiting.store(0, kRelease);
        }
      } else {
        push(item);
        kept = true;
      }
      item = next;
    }
    if (!kept) return;
  }
}

}  // namespace attrcache
