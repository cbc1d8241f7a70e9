// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Announcements by themselves, without the C API, through which it would take too many preemptions
// to meet what is asked here.

#include "platform/wait.h"
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
        if (begin_to_leave(holder, slot)) return leave(readers, holder, slot, kValue);
      }
      body.write(0);
      ++deleted;
    });
    join();
    expect(deleted == 1, "by the one or the other");
  });
  EXPECT_GT(left, 10);
}

// The same where somebody else claims the second attachment meanwhile, and must not take the copier
// for one who has let go while the first claimer mistakes its announcement.
TEST(Announcements, WhoIsChosenByMistakeStillHolds) {
  run_model({3, 1}, [] {
    const Threads threads{attrcache_thread_hooks{}};
    Readers readers{threads, Memory(), false};
    Table table = {};
    Pair& slot = table.inline_slots[0];
    constexpr uint64_t kFirst = 1, kSecond = 2;
    Atomic<int> claimed{0};
    Plain<int> body{1};
    spawn([&] {
      Announcement* const cell = readers.take();
      for (const uint64_t meta : {kFirst, kSecond}) {
        readers.announce(*cell, slot, Says::kCopies, meta);
        if (meta == kSecond && claimed.load(kAcquire) == 0) {
          expect(body.read() == 1, "what is copied isn't deleted");
        }
        readers.withdraw_copy(*cell, slot);
      }
    });
    spawn([&] {
      const Readers::Claiming claiming(readers);
      readers.heavy_fence();
      Holder holder;
      if (!find_holder(readers, table, slot, kFirst, Says::kCopies, &holder)) return;
      if (begin_to_leave(holder, slot)) leave(readers, holder, slot, 77);
    });
    spawn([&] {
      claimed.store(1, kRelease);
      const Readers::Claiming claiming(readers);
      readers.heavy_fence();
      Holder holder;
      Backoff backoff;
      while (find_holder(readers, table, slot, kSecond, Says::kCopies, &holder)) backoff.relax();
      body.write(0);
    });
    join();
  });
}

}  // namespace
}  // namespace attrcache::model
