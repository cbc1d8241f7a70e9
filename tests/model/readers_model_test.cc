// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a look through all announcements must find, whatever comes and goes meanwhile: the records in
// use (readers/active_records.h), a record's linked cells (readers/thread_record.h), and a bucket's
// linked tombs (readers/tomb.h).

#include <algorithm>
#include <utility>

#include "platform/asymmetric_fence.h"
#include "readers/active_records.h"
#include "readers/readers.h"
#include "readers/thread_record.h"
#include "tests/model/explorer/atomic.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// Either a thread that announces sees the change made before the other's look, or that look finds
// what is announced.
struct Change {
  AsymmetricFence::Of readers = AsymmetricFence::Of::kFull;
  Atomic<int> changed{0};
  bool holds = false;

  // (L1, L2)
  template <typename T>
  void announce(Atomic<T>& cell, T what) {
    AsymmetricFence::announce(cell, what);
    if (readers == AsymmetricFence::Of::kFull) full_fence();
    holds = changed.load(kAcquire) == 0;
  }
  // (S6, L8)
  template <typename Look>
  void look(Look finds_it) {
    changed.exchange(1, kAcqRel);
    AsymmetricFence::heavy_fence(readers);
    found = finds_it();
  }
  void check() { expect(found || !holds, "what is held is found"); }
  bool found = false;
};

// Records of two groups, with one cell each.
struct Record {
  ActiveRecords::Word group{0};
  Atomic<int> cell{0};
};
struct Records {
  static constexpr unsigned kPlaces = 2;
  ActiveRecords active;
  Record records[2 * kPlaces];
  Atomic<unsigned> taken{0};  // as platform.cc has it: a bit for each record
  int visits = 0;
  Change change;

  static unsigned bit(unsigned record) { return 1u << record; }
  void take(unsigned record) {
    unsigned now = taken.load(kRelaxed);
    while (!taken.compare_exchange_weak(now, now | bit(record), kAcquire, kRelaxed)) {
    }
  }
  void give_back(unsigned record) { taken.fetch_and(~bit(record), kRelease); }
  void enter(unsigned record) {
    const unsigned place = record % kPlaces;
    active.enter(record / kPlaces, records[record - place].group, place);
  }
  void begin(unsigned record) {
    take(record);
    enter(record);
  }
  void begin_and_end(unsigned record) {
    begin(record);
    give_back(record);
  }
  // As Readers::any().
  bool look() {
    const auto records_of = [this](unsigned group) {
      ++visits;
      return &records[group * kPlaces];
    };
    const auto is_quiet = [](const Record& record) {
      return AsymmetricFence::look(record.cell) == 0;
    };
    const auto look_at = [=, this](const Record& record, bool* quiet) {
      ++visits;
      return !(*quiet = is_quiet(record));
    };
    const auto is_taken = [this](unsigned group, unsigned place) {
      return (taken.load(kAcquire) & bit(group * kPlaces + place)) != 0;
    };
    return active.any(records_of, look_at, is_quiet, is_taken);
  }
  void change_and_look() {
    change.look([this] { return look(); });
  }
};

// A thread enters a record, and announces something, beside looks that find it quiet. In the end,
// when all records are quiet and their threads have ended, one look takes out all there is.
template <typename Prepare, typename Enters, typename... Looks>
void race_to_enter(Options bound, Prepare prepare, Enters enters, Looks... looks) {
  run_model(bound, [=] {
    Records r;
    prepare(r);
    spawn_each(r, enters, looks...);
    join();
    r.change.check();
    reaches("held", r.change.holds);
    reaches("not held", !r.change.holds);
    for (Record& record : r.records) record.cell.store(0, kRelaxed);
    r.taken.store(0, kRelaxed);
    r.look();
    r.visits = 0;
    expect(!r.look() && r.visits == 0, "what is over costs nothing");
  });
}
constexpr auto look = [](Records& r) { r.look(); };
constexpr auto look_and_change = [](Records& r) {
  r.look();
  r.change_and_look();
};
// A thread that uses a record for the first time.
auto enters(unsigned record) {
  return [record](Records& r) {
    r.begin(record);
    r.change.announce(r.records[record].cell, 1);
  };
}
auto was_used(unsigned record) {
  return [record](Records& r) { r.begin_and_end(record); };
}

TEST(ActiveRecords, EnteredBesideALookThatTakesItOut) {
  race_to_enter({4, 1}, was_used(0), enters(0), look_and_change);
}
TEST(ActiveRecords, EnteredBesideALookAtTheGroup) {
  race_to_enter({4, 1}, was_used(1), enters(0), look_and_change);
}
TEST(ActiveRecords, EnteredBesideALookThatTakesOutAnotherGroup) {
  race_to_enter({4, 1}, was_used(0), enters(2), look_and_change);
}
TEST(ActiveRecords, EnteredBesideTwoLooks) {
  race_to_enter({3, 0}, was_used(0), enters(0), look, look_and_change);
}
TEST(ActiveRecords, EnteredBesideTheLookOfAnotherThreadThatEnters) {
  const auto begin_and_look = [](Records& r) {
    r.begin(1);
    look_and_change(r);
    r.give_back(1);
  };
  race_to_enter({3, 1}, was_used(0), enters(0), begin_and_look);
}
// A group's flag is cleared by a look that an earlier one has left no record to.
TEST(ActiveRecords, EnteredWhenOnlyTheGroupIsLeft) {
  const auto looks_twice = [](Records& r) {
    r.look();
    look_and_change(r);
  };
  race_to_enter({3, 1}, was_used(0), enters(0), looks_twice);
}
// A look that passes over a record, because another look has taken it out, sees what the record's
// last thread has done.
TEST(ActiveRecords, ALookPastARecordThatAnotherHasTakenOut) {
  run_model({3, 1}, [] {
    Records r;
    Plain<int> held;
    r.begin(0);
    r.records[0].cell.store(1, kRelaxed);
    spawn([&] {
      held.read();
      r.records[0].cell.store(0, kRelease);
      r.give_back(0);
    });
    spawn([&] { r.look(); });
    spawn([&] {
      if (!r.look()) held.write(1);
    });
    join();
  });
}

// The last thread of an ordinal has left something borrowed.
TEST(ActiveRecords, OfAThreadThatEndsWhileItHolds) {
  const auto begins = [](Records& r) { r.begin(0); };
  const auto holds_and_ends = [](Records& r) {
    r.change.announce(r.records[0].cell, 1);
    r.give_back(0);
  };
  race_to_enter({3, 1}, begins, holds_and_ends, look_and_change);
}

// A record with three linked cells. That in the middle holds throughout.
struct Cells {
  ThreadRecord record;
  LinkedCell cells[3] = {LinkedCell(&record), LinkedCell(&record), LinkedCell(&record)};

  Cells() {
    for (LinkedCell& cell : cells) {
      link(cell);  // the last one is the first now
      cell.cell.what.store(&cell == &cells[1] ? kHeld : kAnother, kRelaxed);
    }
  }
  static constexpr uint64_t kHeld = 64, kAnother = 128;
  void link(LinkedCell& cell) {
    record.spare = &cell;
    record.link();
  }
  void again(int cell) {
    record.unlink(cells[cell]);
    record.link();
  }
  bool finds(const Announcement& one) {
    return record.any_of(
        [&one](const Announcement& cell, uint64_t what) { return &cell == &one && what == kHeld; });
  }
  int linked() {
    int found = 0;
    record.any_of([&found](const Announcement&, uint64_t) { return ++found, false; });
    return found;
  }
};

TEST(LinkedCells, LinkedAgainBesideALook) {
  for (const auto& [first, last] : {std::pair(0, 0), std::pair(2, 2), std::pair(0, 2)}) {
    run_model({3, 1}, [first = first, last = last] {
      Cells c;
      spawn([&] {
        c.again(first);
        c.again(2 - first);
        c.record.unlink(c.cells[last]);
      });
      spawn([&] { expect(c.finds(c.cells[1].cell), "it was announced before"); });
      join();
      expect(c.linked() == 2, "and no other is lost");
    });
  }
}
TEST(LinkedCells, UnlinkedInAnyOrder) {
  run_model({}, [] {
    int order[] = {0, 1, 2};
    do {
      Cells c;
      for (int left = 3; left-- > 0;) {
        c.record.unlink(c.cells[order[left]]);
        expect(c.linked() == left, "the others stay linked");
      }
    } while (std::next_permutation(order, order + 3));
  });
}
// A look that doesn't find a cell, because it is unlinked, sees what its holder has done.
TEST(LinkedCells, AHolderLetsGoBesideALook) {
  run_model({3, 1}, [] {
    Cells c;
    Plain<int> held;
    LinkedCell& cell = c.cells[1];
    spawn([&] {
      held.read();
      cell.cell.what.store(Announcement::kNobody, kRelease);
      c.record.unlink(cell);
    });
    spawn([&] {
      const bool found = c.finds(cell.cell);
      if (!found) held.write(1);
      reaches("found", found);
      reaches("not found", !found);
    });
    join();
  });
}
TEST(LinkedCells, LinkedBesideALookForWhatIsAnnouncedThere) {
  for (const auto of : {AsymmetricFence::Of::kLight, AsymmetricFence::Of::kFull}) {
    run_model({3, 1}, [of] {
      Cells c;
      Change change = {of};
      c.record.unlink(c.cells[2]);
      c.record.unlink(c.cells[0]);
      spawn([&] {
        Announcement& cell = c.record.link().cell;
        c.link(c.cells[2]);
        change.announce(cell.what, Cells::kHeld);
      });
      spawn([&] { change.look([&] { return c.finds(c.cells[0].cell); }); });
      join();
      change.check();
    });
  }
}

// Tombs of one bucket.
struct Tombs {
  const attrcache_thread_hooks no_hooks = {};
  const Threads threads{no_hooks};
  Readers readers{threads, kProcessMemory, true};
  Pair slot;

  Tomb& open() {
    expect(readers.reserve_tomb(), "there is memory");
    Tomb& tomb = readers.place_tomb(slot, 0, nullptr);
    tomb.open();
    return tomb;
  }
  // How often a walk finds that tomb open; or how many it visits, of all.
  int visits(const Tomb* of) {
    int visits = 0;
    readers.for_each_tomb(&slot, 0, [&](Tomb& tomb, uint64_t now) {
      visits += of == nullptr || (&tomb == of && Tomb::phase(now) == Tomb::kOpen);
    });
    return visits;
  }
};

// An ordinal's next thread goes on with the record of the last one, which has given back, or not.
TEST(FirstCells, OfAnOrdinalThatAnotherThreadGets) {
  for (const bool gives_back : {true, false}) {
    run_model({3, 1}, [gives_back] {
      Tombs t;
      Plain<int> value;
      Atomic<int> ended{0};
      const ThreadState last = this_thread();
      Announcement& cell = *t.readers.take();
      Readers::announce(cell, t.slot, Says::kBorrows, 1);
      spawn([&] {
        value.read();
        if (gives_back) Readers::retract(cell, last.identity);
        ended.store(1, kRelease);
      });
      spawn([&] {
        if (ended.load(kAcquire) == 0) return;
        this_thread() = last;
        this_thread().identity += 100;
        expect((t.readers.take() == &cell) == gives_back, "what is borrowed stays so");
      });
      spawn([&] {
        const bool held = t.readers.any(
            [&](const Announcement&, uint64_t what) { return Announcement::holds(what, &t.slot); });
        expect(held || gives_back, "it is found");
        if (!held) value.write(1);
      });
      join();
    });
  }
}

// A thread frees a tomb, and so unlinks others; one looks for a tomb behind those; and one places two,
// and frees them.
TEST(LinkedTombs, UnlinkedBesideAWalkAndAHandOff) {
  run_model({2, 1}, [] {
    Tombs t;
    Tomb* made[4];
    for (Tomb*& tomb : made) tomb = &t.open();  // the last one is the first now
    for (int i : {3, 2}) t.readers.free_tomb(*made[i]);
    Plain<int> object;
    spawn([&] {
      object.read();
      t.readers.free_tomb(*made[1]);
    });
    spawn([&] {
      // A walk that passes over a tomb, since it is unlinked, sees what was done before it was freed.
      if (t.visits(made[1]) == 0) object.write(1);
      expect(t.visits(made[0]) != 0, "it was open before");
      t.readers.free_tomb(*made[0]);
    });
    spawn([&] {
      for (Tomb* const tomb : {&t.open(), &t.open()}) {
        expect(t.visits(tomb) != 0, "it is open");
        t.readers.free_tomb(*tomb);
      }
    });
    join();
    t.open();
    expect(t.visits(nullptr) <= 2, "what is over costs nothing");
    for (int i = 0; i < 4; ++i) expect(t.visits(&t.open()) == 1, "it is linked, once");
  });
}

// Tombs that others place and free, while a thread that unlinks free ones passes them by, are unlinked
// in the end.
TEST(LinkedTombs, FreedWhileAnotherThreadUnlinks) {
  run_model({3, 0}, [] {
    Tombs t;
    t.open();  // throughout
    Tomb* const made[] = {&t.open(), &t.open(), &t.open()};
    for (int i : {0, 1}) t.readers.free_tomb(*made[i]);
    spawn([&] { t.readers.free_tomb(*made[2]); });
    spawn([&] {
      for (Tomb* const tomb : {&t.open(), &t.open(), &t.open()}) t.readers.free_tomb(*tomb);
    });
    join();
    expect(t.visits(nullptr) <= 3, "the bucket isn't crowded");
  });
}
}  // namespace
}  // namespace attrcache::model
