// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Reclamation: nothing is reclaimed that a pinned thread can still see, and everything is reclaimed
// when nobody is pinned.

#include "epoch/epoch.h"
#include "platform/memory.h"
#include "platform/thread.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

struct Item : Retired {
  Plain<int> body{1};
  Atomic<int> word{7};
};

struct Reclaimed {
  explicit Reclaimed(unsigned stripes) : epoch(stripes) {
    for (auto& place : places) place.store(kProcessMemory.make<Item>(), kRelaxed);
  }
  Epoch epoch;
  Atomic<Item*> places[2];

  // A reader, as introspection is one.
  void look(int place) {
    Epoch::Guard pin(epoch, thread_ordinal());
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

void run(Bound bound, unsigned stripes, void (*threads)(Reclaimed&)) {
  run_model(bound, [=] {
    Reclaimed r(stripes);
    threads(r);
    join();
    r.finish();
  });
}

class EpochModel : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Stripes, EpochModel, ::testing::Values(1u, 2u));

TEST_P(EpochModel, ReaderAgainstRetire) {
  run({}, GetParam(), [](Reclaimed& r) {
    spawn([&r] { r.look(0); });
    spawn([&r] { r.retire(0); });
  });
}

TEST_P(EpochModel, ReaderAgainstTwoRetires) {
  run({3}, GetParam(), [](Reclaimed& r) {
    spawn([&r] {
      r.look(0);
      r.look(1);
    });
    spawn([&r] {
      r.retire(0);
      r.retire(1);
    });
  });
}

TEST_P(EpochModel, ReaderAgainstTwoRetirers) {
  run({3}, GetParam(), [](Reclaimed& r) {
    spawn([&r] { r.look(0); });
    spawn([&r] { r.retire(0); });
    spawn([&r] { r.retire(1); });
  });
}

TEST_P(EpochModel, TwoReadersAgainstRetire) {
  run({3}, GetParam(), [](Reclaimed& r) {
    spawn([&r] { r.look(0); });
    spawn([&r] { r.look(0); });
    spawn([&r] { r.retire(0); });
  });
}

TEST_P(EpochModel, TwoRetirers) {
  run({}, GetParam(), [](Reclaimed& r) {
    spawn([&r] { r.retire(0); });
    spawn([&r] { r.retire(1); });
  });
}

// A reader that has chosen its counter sleeps while the epoch goes on by two: the counter would not
// be looked at any more, had it not to look at the epoch again.
TEST_P(EpochModel, OutdatedPinAgainstRetires) {
  run({3}, GetParam(), [](Reclaimed& r) {
    spawn([&r] { r.look(1); });
    spawn([&r] {
      {
        Epoch::Guard pin(r.epoch, thread_ordinal());
        r.retire(0);
      }
      r.retire(1);
    });
  });
}

// A reader that sleeps through advances, beside one that pins anew.
TEST_P(EpochModel, OldPinAndNewPinAgainstTwoRetires) {
  run({2}, GetParam(), [](Reclaimed& r) {
    spawn([&r] { r.look(1); });
    spawn([&r] {
      r.look(1);
      r.look(1);
    });
    spawn([&r] {
      r.retire(0);
      r.retire(1);
    });
  });
}

// Something that its owner hands to another thread as soon as it is retired, and that is written
// again when it doesn't wait: as the record within an entry is.
struct Reused {
  explicit Reused(unsigned stripes) : epoch(stripes) {}
  struct Item : Retired {
    Plain<int> body{1};
  };
  Epoch epoch;
  Item item;
  Atomic<int> linked{1};
  Atomic<int> handed_over{0};

  void look() {
    Epoch::Guard pin(epoch, thread_ordinal());
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

TEST_P(EpochModel, ReaderAgainstReuse) {
  const unsigned stripes = GetParam();
  run_model({4}, [stripes] {
    Reused r(stripes);
    spawn([&r] { r.look(); });
    spawn([&r] {
      r.retire();
      r.take();
      r.take();
    });
    join();
    r.finish();
  });
}

TEST_P(EpochModel, ReaderAgainstReuseByAnother) {
  const unsigned stripes = GetParam();
  run_model({3}, [stripes] {
    Reused r(stripes);
    spawn([&r] { r.look(); });
    spawn([&r] { r.retire(); });
    spawn([&r] { r.take(); });
    join();
    r.finish();
  });
}

// What nobody can see any more need not be retired.
TEST_P(EpochModel, ReaderAgainstReuseOfWhatIsUnseen) {
  const unsigned stripes = GetParam();
  run_model({}, [stripes] {
    Reused r(stripes);
    spawn([&r] { r.look(); });
    spawn([&r] {
      r.linked.store(0, kRelaxed);
      if (r.epoch.unseen()) r.item.body.write(2);
    });
    join();
    r.finish();
  });
}

}  // namespace
}  // namespace attrcache::model
