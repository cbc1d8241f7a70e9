// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The epoch core in Relacy: lib/epoch/epoch.cc with one stripe, by its numbers E1 to E11.

#include "tests/model/relacy/relacy_test.h"

namespace attrcache::relacy {
namespace {

struct Item {
  rl::var<int> body;
  rl::var<Item*> next;
  rl::var<unsigned> epoch;
};

// What is left out of the protocol, to see that it is missed.
enum Omission { kNothing, kRecheck, kPinsOfTheEpochBefore, kLeaversLook };

template <Omission kOmitted>
struct Epoch {
  rl::atomic<unsigned> epoch;
  rl::atomic<Item*> list;
  rl::atomic<unsigned> pins;  // three fields
  rl::atomic<unsigned> waiting;

  static unsigned one(unsigned epoch) { return 1u << 8 * (epoch % 3); }

  void begin() {
    epoch($).store(0, rl::mo_relaxed);
    list($).store(nullptr, rl::mo_relaxed);
    waiting($).store(0, rl::mo_relaxed);
    pins($).store(0, rl::mo_relaxed);
  }

  unsigned enter() {
    for (;;) {
      const unsigned now = epoch($).load(rl::mo_seq_cst);  // (E1)
      pins($).fetch_add(one(now), rl::mo_seq_cst);         // (E2)
      if (kOmitted == kRecheck) return one(now);
      if (epoch($).load(rl::mo_seq_cst) == now) return one(now);  // (E3)
      pins($).fetch_sub(one(now), rl::mo_seq_cst);
    }
  }

  void leave(unsigned one) {
    pins($).fetch_sub(one, rl::mo_seq_cst);  // (E6)
    if (kOmitted == kLeaversLook) return;
    if (list($).load(rl::mo_seq_cst) != nullptr) collect(0);  // (E7)
  }

  bool advance() {
    unsigned now = epoch($).load(rl::mo_seq_cst);
    if (kOmitted != kPinsOfTheEpochBefore &&
        (pins($).load(rl::mo_seq_cst) & one(now + 2) * 0xff) != 0) {  // (E4)
      return false;
    }
    epoch($).compare_exchange_strong(now, now + 1, rl::mo_seq_cst, rl::mo_relaxed);  // (E5)
    return true;
  }

  bool nobody_pinned() {  // (E11)
    return pins($).load(rl::mo_seq_cst) == 0;
  }

  void retire(Item* item) {
    const unsigned now = epoch($).fetch_add(0u, rl::mo_seq_cst);  // (E8)
    item->epoch($) = now;
    if (nobody_pinned()) return reclaim(item);
    waiting($).fetch_add(1u, rl::mo_relaxed);
    push(item, item);
    collect(now + 2);
  }

  void push(Item* first, Item* last) {
    Item* head = list($).load(rl::mo_relaxed);
    for (;;) {
      last->next($) = head;
      if (list($).compare_exchange_weak(head, first, rl::mo_seq_cst, rl::mo_relaxed))
        return;  // (E9)
    }
  }

  void collect(unsigned ripe) {
    while (advance()) {
      if (epoch($).load(rl::mo_seq_cst) < ripe) continue;
      Item* item = list($).exchange(nullptr, rl::mo_seq_cst);  // (E10)
      const unsigned now = epoch($).load(rl::mo_seq_cst);
      Item* kept = nullptr;
      Item* last_kept = nullptr;
      while (item != nullptr) {
        Item* next = item->next($);
        if (item->epoch($) + 2 <= now) {
          waiting($).fetch_sub(1u, rl::mo_relaxed);
          reclaim(item);
        } else {
          item->next($) = kept;
          kept = item;
          if (last_kept == nullptr) last_kept = item;
        }
        item = next;
      }
      if (kept == nullptr) return;
      push(kept, last_kept);
    }
  }

  void reclaim(Item* item) {
    item->body($) = 0;  // a race with a reader, if there is one left
    delete item;
  }
};

// Readers beside threads that unlink and retire one item each. The unlinking store is relaxed: the
// epoch alone has to keep later pins from finding the item.
template <int kReaders, int kRetirers, Omission kOmitted = kNothing>
struct Model : rl::test_suite<Model<kReaders, kRetirers, kOmitted>, kReaders + kRetirers> {
  Epoch<kOmitted> epoch;
  rl::atomic<Item*> places[2];

  void before() {
    epoch.begin();
    for (auto& place : places) {
      Item* item = new Item;
      item->body($) = 1;
      place($).store(item, rl::mo_relaxed);
    }
  }
  void thread(unsigned index) {
    if (index < kReaders) {
      for (auto& place : places) look(place);
    } else {
      retire(places[index - kReaders]);
      if (kRetirers == 1) retire(places[1]);
    }
  }
  void after() {
    RL_ASSERT(epoch.list($).load(rl::mo_relaxed) == nullptr);  // nothing waits
    RL_ASSERT(epoch.waiting($).load(rl::mo_relaxed) == 0);
  }

  void look(rl::atomic<Item*>& place) {
    const unsigned count = epoch.enter();
    Item* item = place($).load(rl::mo_acquire);
    if (item != nullptr) RL_ASSERT(item->body($) == 1);
    epoch.leave(count);
  }
  void retire(rl::atomic<Item*>& place) {
    Item* item = place($).load(rl::mo_relaxed);
    place($).store(nullptr, rl::mo_relaxed);
    epoch.retire(item);
  }
};

bool run() {
  bool good = true;
  good &= check<Model<1, 1>>("epoch, reader and retirer", 200000);
  good &= check<Model<2, 1>>("epoch, two readers and retirer", 200000);
  good &= check<Model<1, 2>>("epoch, reader and two retirers", 200000);
  good &= check<Model<0, 2>>("epoch, two retirers", 100000);
  good &= check<Model<1, 1, kRecheck>>("epoch without E3", 1000000, Expect::kBroken);
  good &= check<Model<1, 1, kPinsOfTheEpochBefore>>("epoch without E4", 1000000, Expect::kBroken);
  good &= check<Model<1, 1, kLeaversLook>>("epoch without E7", 1000000, Expect::kBroken);
  return good;
}

}  // namespace
}  // namespace attrcache::relacy

int main() { return attrcache::relacy::run() ? 0 : 1; }
