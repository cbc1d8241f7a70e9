// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Reclamation: nothing is reclaimed that a pinned thread can still see, and everything is reclaimed
// when nobody is pinned.

#include "epoch/epoch.h"
#include "platform/memory.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

struct Item : Retired {
  Plain<int> body{1};
  Atomic<int> word{7};
};

struct Reclaimed {
  Reclaimed() {
    for (auto& place : places) place.store(kProcessMemory.make<Item>(), kRelaxed);
  }
  Epoch epoch;
  Atomic<Item*> places[2];

  // A reader, such as introspection.
  void look(int place) {
    Epoch::Guard pin(epoch);
    Item* item = places[place].load(kAcquire);
    if (item == nullptr) return;
    expect(item->body.read() == 1, "what is pinned is not reclaimed");
    expect(item->word.load(kRelaxed) == 7, "nor its memory released");
  }
  // Unlinked by a relaxed store: the epoch alone has to keep later pins from finding it.
  void retire(int place) {
    Item* item = places[place].load(kRelaxed);
    places[place].store(nullptr, kRelaxed);
    item->reclaim = [](Retired* retired, const Memory&) {
      auto* self = static_cast<Item*>(retired);
      self->body.write(0);
      kProcessMemory.destroy(self);
    };
    epoch.retire(item);
  }
  void finish() {
    expect(epoch.waiting() == 0, "nothing waits when nobody is pinned");
    for (auto& place : places) {
      if (Item* item = place.load(kRelaxed)) kProcessMemory.destroy(item);
    }
  }
};

constexpr auto look(int place) {
  return [=](Reclaimed& r) { r.look(place); };
}
constexpr auto retire(int place) {
  return [=](Reclaimed& r) { r.retire(place); };
}
// Pins by itself.
constexpr auto retire_pinned = [](Reclaimed& r) {
  Epoch::Guard pin(r.epoch);
  r.retire(0);
};

TEST(EpochModel, ReaderAgainstRetire) { run_race<Reclaimed>({}, nothing, look(0), retire(0)); }
TEST(EpochModel, TwoRetirers) { run_race<Reclaimed>({}, nothing, retire(0), retire(1)); }
TEST(EpochModel, ReaderAgainstTwoRetires) {
  run_race<Reclaimed>({3}, nothing, in_turn(look(0), look(1)), in_turn(retire(0), retire(1)));
}
TEST(EpochModel, ReaderAgainstTwoRetirers) {
  run_race<Reclaimed>({3}, nothing, look(0), retire(0), retire(1));
}
TEST(EpochModel, TwoReadersAgainstRetire) {
  run_race<Reclaimed>({3, 2}, nothing, look(0), look(0), retire(0));
}
// A reader has chosen its count, and sleeps while the epoch advances by one or two.
TEST(EpochModel, OutdatedPinAgainstRetires) {
  run_race<Reclaimed>({3}, nothing, look(1), in_turn(retire_pinned, retire(1)));
}
// A reader that will collect after leaving sleeps, and then takes what was retired epochs after it
// began.
TEST(EpochModel, OutdatedCollectorAgainstRetires) {
  const auto retire_and_look = [](Reclaimed& r) {
    Epoch::Guard pin(r.epoch);
    const Item* const item = r.places[1].load(kRelaxed);
    r.retire(1);
    expect(item->body.read() == 1, "what is pinned is not reclaimed");
  };
  run_race<Reclaimed>({3}, nothing, look(1), in_turn(retire_pinned, retire_and_look));
}
// A reader sleeps through advances, beside one that has just pinned.
TEST(EpochModel, OldPinAndNewPinAgainstTwoRetires) {
  run_race<Reclaimed>({2}, nothing, look(1), in_turn(look(1), look(1)),
                      in_turn(retire(0), retire(1)));
}
// Pins that overlap without end don't hold back what was retired before them.
TEST(EpochModel, LaterPinHoldsNothingBack) {
  run_race<Reclaimed>({}, nothing, [](Reclaimed& r) {
    auto* const early = kProcessMemory.make<Epoch::Guard>(r.epoch);
    r.retire(0);
    Epoch::Guard later(r.epoch);
    kProcessMemory.destroy(early);
    expect(r.epoch.waiting() == 0, "only the early reader can have seen it");
  });
}

// An item that its owner hands to another thread as soon as it is retired, and that is written
// again once it no longer waits, like the record in an entry.
struct Reused {
  struct Item : Retired {
    Plain<int> body{1};
  };
  Epoch epoch;
  Item item;
  Atomic<int> linked{1};
  Atomic<int> handed_over{0};

  void look() {
    Epoch::Guard pin(epoch);
    if (linked.load(kAcquire) != 1) return;
    expect(item.body.read() == 1, "what is pinned is not written");
  }
  void retire() {
    linked.store(0, kRelaxed);
    epoch.retire(&item);
    handed_over.store(1, kRelease);
  }
  void take() {
    if (handed_over.load(kAcquire) == 1 && !item.waits()) item.body.write(2);
  }
  void finish() {
    expect(epoch.waiting() == 0 && !item.waits(), "nothing waits when nobody is pinned");
  }
};

constexpr auto look_at_it = [](Reused& r) { r.look(); };
constexpr auto retire_it = [](Reused& r) { r.retire(); };
constexpr auto take_it = [](Reused& r) { r.take(); };

TEST(EpochModel, ReaderAgainstReuse) {
  run_race<Reused>({4}, nothing, look_at_it, in_turn(retire_it, take_it, take_it));
}
TEST(EpochModel, ReaderAgainstReuseByAnother) {
  run_race<Reused>({3}, nothing, look_at_it, retire_it, take_it);
}

}  // namespace
}  // namespace attrcache::model
