// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// That what is over costs nothing: of records and cells only those in use are looked through, and of
// tombs hardly more.

#include "readers/readers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <set>
#include <vector>

#include "tests/support/threads.h"

namespace attrcache {
namespace {

class ReadersTest : public ::testing::Test {
 protected:
  // How many cells say something.
  int announced() const {
    int count = 0;
    readers.any([&count](Announcement&, uintptr_t) {
      ++count;
      return false;
    });
    return count;
  }
  int tombs() const {
    int count = 0;
    readers.for_each_tomb([&count](Tomb&, uint64_t) { ++count; });
    return count;
  }

  const attrcache_thread_hooks no_hooks = {};
  const Threads threads{no_hooks};
  Readers readers{threads, kProcessMemory, false};
};

TEST_F(ReadersTest, CellsAreLinkedWhileTheyAreInUse) {
  ThreadRecord& mine = *readers.mine();
  std::vector<Announcement*> taken;
  for (int i = 0; i < 1000; ++i) taken.push_back(readers.take());
  EXPECT_EQ(std::set<Announcement*>(taken.begin(), taken.end()).size(), 1000u);
  EXPECT_EQ(announced(), 1000);
  for (size_t i = 0; i < taken.size(); ++i) {
    if (i % 7 != 0) readers.release(*taken[i]);
  }
  EXPECT_EQ(announced(), 143);
  for (size_t i = 0; i < taken.size(); i += 7) readers.release(*taken[i]);
  EXPECT_EQ(announced(), 0);
  EXPECT_EQ(mine.linked.load(kRelaxed), nullptr);
}

TEST_F(ReadersTest, ACellSharesNoLineWithAnotherThreads) {
  readers.take();  // the record's own
  Announcement* const mine = readers.take();
  Announcement* others = nullptr;
  support::run_threads(1, [&](int) {
    readers.take();
    others = readers.take();
  });
  EXPECT_EQ(LinkedCell::of(*mine).record, readers.mine());
  EXPECT_NE(LinkedCell::of(*others).record, readers.mine());
  EXPECT_NE(reinterpret_cast<uintptr_t>(mine) / 64, reinterpret_cast<uintptr_t>(others) / 64);
}

// The cells of ended threads are visited once more, and then not even looked at.
TEST_F(ReadersTest, RecordsOfEndedThreadsAreTakenOut) {
  constexpr int kMany = 100;
  std::vector<ThreadRecord*> records(kMany);
  std::vector<Announcement*> left(kMany);
  std::latch all(kMany);
  support::run_threads(kMany, [&](int t) {
    Announcement* const cell = readers.take();
    records[t] = readers.mine();
    all.arrive_and_wait();  // so that each has a record of its own
    if (t == 7) {
      left[t] = cell;  // what a thread leaves in use stays visible
    } else {
      readers.release(*cell);
    }
  });
  EXPECT_EQ(announced(), 1);  // takes the quiet ones out
  for (ThreadRecord* const record : records)
    record->first.what.store(uint64_t(Says::kTaken), kRelaxed);
  EXPECT_EQ(announced(), 1) << "only in the record that is in use";
  for (ThreadRecord* const record : records) {
    if (&record->first != left[7]) record->first.what.store(Announcement::kNobody, kRelaxed);
  }
  // Threads that get these ordinals enter their records again.
  support::run_threads(1, [&](int) { EXPECT_NE(readers.take(), nullptr); });
  EXPECT_EQ(announced(), 2);
}

// However many threads there were at once, one of which is left.
TEST(ActiveRecordsTest, ALookCostsWhatIsInUse) {
  struct Record {
    ActiveRecords::Word group{0};
    bool over = false;
  };
  constexpr unsigned kPlaces = ActiveRecords::kFlags;
  for (const unsigned many : {1u, 100u, 10000u}) {
    std::vector<Record> records((many / kPlaces + 1) * kPlaces);
    ActiveRecords active;
    unsigned groups = 0, looks = 0;
    const auto look = [&] {
      groups = looks = 0;
      const auto records_of = [&](unsigned group) { return ++groups, &records[group * kPlaces]; };
      const auto look_at = [&](Record&, bool*) { return ++looks, false; };
      const auto is_quiet = [](Record&) { return true; };
      const auto taken = [&](unsigned g, unsigned p) { return !records[g * kPlaces + p].over; };
      active.any(records_of, look_at, is_quiet, taken);
    };
    for (unsigned r = 0; r < many; ++r)
      active.enter(r / kPlaces, records[r - r % kPlaces].group, r % kPlaces);
    look();
    EXPECT_EQ(looks, many);
    for (unsigned r = 0; r < many; ++r) records[r].over = r != many / 2;
    look();  // takes out what is over
    EXPECT_EQ(looks, many);
    look();
    EXPECT_EQ(looks, 1u);
    EXPECT_EQ(groups, 1u);
  }
}

constexpr uint64_t numbered(uint64_t number) { return number << 32; }  // a meta

TEST_F(ReadersTest, TombsAreInTheBucketOfTheirAttachment) {
  alignas(16) static Pair slots[2];
  const auto any = [this](const Pair& slot, uint64_t meta) {
    bool any = false;
    readers.for_each_tomb(&slot, meta, [&any](Tomb&, uint64_t) { any = true; });
    return any;
  };
  ASSERT_TRUE(readers.reserve_tomb());
  Tomb& tomb = readers.place_tomb(slots[0], numbered(100), nullptr);
  EXPECT_TRUE(any(slots[0], numbered(100)));
  EXPECT_FALSE(any(slots[0], numbered(120)));
  EXPECT_FALSE(any(slots[1], numbered(100)));
  readers.free_tomb(tomb);
  EXPECT_FALSE(any(slots[0], numbered(100)));
  EXPECT_EQ(&readers.place_tomb(slots[0], numbered(100), nullptr), &tomb)
      << "used again, without another reserved";
  readers.free_tomb(tomb);
}

TEST_F(ReadersTest, TombsAreLinkedWhileTheyAreInUse) {
  alignas(16) static Pair slot;
  std::vector<Tomb*> placed;
  for (int n = 0; n < 10000; ++n) {
    ASSERT_TRUE(readers.reserve_tomb());
    placed.push_back(&readers.place_tomb(slot, numbered(n), nullptr));
  }
  EXPECT_EQ(tombs(), 10000);
  for (size_t i = 100; i < placed.size(); ++i) readers.free_tomb(*placed[i]);
  EXPECT_GE(tombs(), 100);
  EXPECT_LE(tombs(), 2 * 100 + 128) << "at most one more free in each bucket than in use";
  for (size_t i = 0; i < 100; ++i) readers.free_tomb(*placed[i]);
  EXPECT_EQ(tombs(), 0) << "buckets without a tomb in use are passed over";
  for (int n = 0; n < 10000; ++n) readers.place_tomb(slot, numbered(n), nullptr);
  EXPECT_EQ(tombs(), 10000) << "used again, without others reserved";
}

}  // namespace
}  // namespace attrcache
