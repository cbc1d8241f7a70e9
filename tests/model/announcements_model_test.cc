// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Announcements by themselves, without the C API, through which it would take too many preemptions
// to meet what is asked here.

#include "platform/wait.h"
#include "table/circle.h"
#include "table/claimed.h"
#include "tests/model/explorer/atomic.h"
#include "tests/model/explorer/plain.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

// A thread holds a value by one cell and then by another one. Whoever looks through the cells finds
// it, also if it looks at the second too early and at the first too late. Both are beyond what a
// record has room for.
TEST(Announcements, AHoldThatMovesToAnotherCellIsFound) {
  run_model({3, 2}, [] {
    const Threads threads{attrcache_thread_hooks{}};
    Readers readers{threads, Memory(), false};
    Table table = {};
    Pair& slot = table.inline_slots[0];
    Atomic<int> held{0};
    spawn([&] {
      Announcement* cells[5];
      for (Announcement*& cell : cells) cell = readers.take();
      readers.announce(*cells[2], slot, Says::kBorrows, 1);
      held.store(1, kRelease);
      readers.announce(*cells[4], slot, Says::kBorrows, 1);
      readers.tell_of_another_hold();
      readers.withdraw(*cells[2], slot);
    });
    spawn([&] {
      readers.any_used([](Announcement&, uintptr_t) { return false; });
      if (held.load(kAcquire) == 0) return;
      readers.heavy_fence();
      Holder holder;
      expect(find_holder(readers, table, slot, 1, Says::kBorrows, &holder), "it held all the time");
    });
    join();
  });
}

// A thread copies two attachments to a slot, one after the other, in the same cell. Another one
// claims the first, and leaves its deletion to that thread, or finds that it has let go. It doesn't
// take the second announcement, which says the same of the slot, for the first.
TEST(Announcements, TheCopierGetsWhatWasLeftToIt) {
  int left = 0;
  run_model({3, 2}, [&left] {
    const Threads threads{attrcache_thread_hooks{}};
    Readers readers{threads, Memory(), false};
    Table table = {};
    Pair& slot = table.inline_slots[0];
    constexpr uint64_t kFirst = 1, kSecond = 2, kValue = 77;
    Atomic<int> claimed{0};
    Plain<int> body{1};
    int deleted = 0;
    spawn([&] {
      Announcement* const cell = readers.take();
      for (const uint64_t meta : {kFirst, kSecond}) {
        readers.announce(*cell, slot, Says::kCopies, meta);
        if (meta == kFirst && claimed.load(kAcquire) == 0) {
          expect(body.read() == 1, "what is copied isn't deleted");
        }
        if (!readers.withdraw_copy(*cell, slot)) continue;
        expect(meta == kFirst, "this one was claimed");
        expect(cell->more.load(kRelaxed) == kValue, "the value that was left");
        body.write(0);
        ++deleted;
        ++left;
      }
      readers.release(*cell);
    });
    spawn([&] {
      claimed.store(1, kRelease);
      const Readers::Claiming claiming(readers);
      readers.heavy_fence();
      Holder holder;
      while (find_holder(readers, table, slot, kFirst, Says::kCopies, &holder)) {
        if (begin_to_leave(readers, table, holder, slot))
          return leave(readers, holder, slot, kValue);
      }
      body.write(0);
      ++deleted;
    });
    join();
    expect(deleted == 1, "by the one or the other");
  });
  EXPECT_GT(left, 10);
}

// Who is chosen by mistake: a claimer has found the copier of the first attachment, and chooses it
// when that copies the second one already.
struct ChosenByMistake {
  static constexpr uint64_t kFirst = 1, kSecond = 2;

  ChosenByMistake() { table.clock.store(kSecond, kRelaxed); }

  // The copier: announces the first attachment and then, when it was found, the second.
  Announcement& announce_both() {
    Announcement& cell = *readers.take();
    readers.announce(cell, slot, Says::kCopies, kFirst);
    Backoff backoff;
    while (found.load(kAcquire) == 0) backoff.relax();
    readers.withdraw_copy(cell, slot);
    readers.announce(cell, slot, Says::kCopies, kSecond);
    return cell;
  }
  void choose_by_mistake() {
    const Readers::Claiming claiming(readers);
    readers.heavy_fence();
    Holder holder;
    Backoff backoff;
    while (!find_holder(readers, table, slot, kFirst, Says::kCopies, &holder)) backoff.relax();
    found.store(1, kRelease);
    backoff.relax();  // others may go on here, which is no preemption
    if (begin_to_leave(readers, table, holder, slot))
      leave(readers, holder, slot, 78);  // it was no mistake
  }

  const Threads threads{attrcache_thread_hooks{}};
  Readers readers{threads, Memory(), false};
  Table table = {};
  Pair& slot = table.inline_slots[0];
  Atomic<int> found{0};
};

// A claimer of the second attachment neither takes the copier for one who has let go, nor chooses
// it beside that.
TEST(Announcements, WhoIsChosenByMistakeStillHolds) {
  int left = 0;
  run_model({2, 0}, [&left] {
    ChosenByMistake c;
    Atomic<int> claimed{0};
    Plain<int> body{1};
    int deleted = 0;
    spawn([&] {
      Announcement& cell = c.announce_both();
      const bool unclaimed = claimed.load(kAcquire) == 0;
      Backoff().relax();  // others may go on here, which is no preemption
      if (unclaimed) expect(body.read() == 1, "what is copied isn't deleted");
      if (!c.readers.withdraw_copy(cell, c.slot)) return;
      ++deleted;
      ++left;
    });
    spawn([&] { c.choose_by_mistake(); });
    spawn([&] {
      claimed.store(1, kRelease);
      const Readers::Claiming claiming(c.readers);
      c.readers.heavy_fence();
      Holder holder;
      Backoff backoff;
      while (find_holder(c.readers, c.table, c.slot, c.kSecond, Says::kCopies, &holder)) {
        if (begin_to_leave(c.readers, c.table, holder, c.slot))
          return leave(c.readers, holder, c.slot, 77);
        backoff.relax();
      }
      body.write(0);
      ++deleted;
    });
    join();
    expect(deleted == 1, "by the one or the other");
  });
  EXPECT_GT(left, 10);
}

// The copier and another thread wait for each other. At least one of them sees that.
TEST(Announcements, ACircleThroughWhoIsChosenByMistakeIsFound) {
  run_model({1, 0}, [] {
    ChosenByMistake c;
    Pair& other = c.table.inline_slots[1];
    uint64_t who[2] = {};
    Atomic<int> holding{0};
    int seen = 0;
    const auto wait_for_each_other = [&](int me, const Pair& sought) {
      who[me] = c.threads.identity();
      holding.fetch_add(1, kAcqRel);
      Backoff backoff;
      while (holding.load(kAcquire) != 2) backoff.relax();
      c.readers.announce_wait(*c.readers.take(), sought, Says::kSeeks, c.kSecond, who[1 - me]);
      seen += waits_for_me(c.readers, who[1 - me]);
    };
    spawn([&] {
      c.announce_both();
      wait_for_each_other(0, other);
    });
    spawn([&] {
      c.readers.announce(*c.readers.take(), other, Says::kCopies, c.kSecond);
      wait_for_each_other(1, c.slot);
    });
    spawn([&] { c.choose_by_mistake(); });
    join();
    expect(seen > 0, "by the one or the other");
  });
}

}  // namespace
}  // namespace attrcache::model
