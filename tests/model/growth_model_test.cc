// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Tables that several threads make grow at once: all threads get the same slots, nothing is lost,
// and a slot that a thread finds is initialized.

#include "platform/memory.h"
#include "table/dup_free.h"
#include "table/get.h"
#include "table/table.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

struct Growing {
  alignas(64) Table table = {};

  // Attaches at an index, and makes its slot if needed.
  void attach(uint32_t index, uint64_t meta) {
    Pair* slot = table.find_or_grow(index, kProcessMemory);
    expect(slot != nullptr, "there is memory");
    SlotContent now = slot->load();
    while (!slot->compare_exchange(now, {index, meta})) {
    }
  }
  // What is at an index, or 0 for nothing.
  uint64_t look(uint32_t index) {
    const Pair* slot = static_cast<const Table&>(table).find(index);
    if (slot == nullptr) return 0;
    const SlotContent word = slot->load();
    expect(word.meta == 0 || word.value == index, "value and meta belong together");
    return word.meta;
  }
  void finish() { table.clear(kProcessMemory); }
};

void race(Bound bound, uint32_t first, uint32_t second) {
  run_model(bound, [=] {
    Growing g;
    spawn([&g, first] { g.attach(first, 1); });
    spawn([&g, second] { g.attach(second, 2); });
    spawn([&g, first] {
      const uint64_t meta = g.look(first);
      if (meta != 0) expect(g.look(first) != 0, "what was there stays");
    });
    join();
    expect(g.look(second) == 2 || first == second, "the second is there");
    expect(g.look(first) == 1 || first == second, "the first is there");
    expect(g.look(first) != 0, "one is there");
    g.finish();
  });
}

TEST(Growth, Directory) { race({}, 3, 4); }
TEST(Growth, SameLeaf) { race({}, 9, 9); }
TEST(Growth, TwoLeaves) { race({3}, 9, 17); }
TEST(Growth, FirstTree) { race({2}, 64, 65); }
TEST(Growth, TwoPlacesOfATree) { race({2}, 64, 72); }
// Leaves 8 and 24: a node comes between; and leaves 8 and 264: one below another.
TEST(Growth, OnePlaceOfATree) { race({2, 1}, 64, 64 + 16 * 8); }
TEST(Growth, OnePlaceTwoLevelsDown) { race({2, 1}, 64, 64 + 256 * 8); }

// Beside a third leaf that is in the place already.
void race_for_the_place_of(uint32_t there, uint32_t first, uint32_t second) {
  run_model({2}, [=] {
    Growing g;
    g.attach(there, 3);
    spawn([&g, first] { g.attach(first, 1); });
    spawn([&g, second] { g.attach(second, 2); });
    spawn([&g, there] { expect(g.look(there) == 3, "what was there stays"); });
    join();
    expect(g.look(there) == 3, "what was there stays");
    expect(g.look(second) == 2 || first == second, "the second is there");
    expect(g.look(first) == 1 || first == second, "the first is there");
    g.finish();
  });
}
TEST(Growth, TwoMoreInOnePlace) { race_for_the_place_of(64, 64 + 16 * 8, 64 + 32 * 8); }
TEST(Growth, TwoMoreInOnePlaceTwoLevelsDown) {
  race_for_the_place_of(64, 64 + 256 * 8, 64 + 512 * 8);
}
TEST(Growth, TheSameInOnePlace) { race_for_the_place_of(64, 64 + 16 * 8, 65 + 16 * 8); }

// The library's own walk over all slots, beside growth.
TEST(Growth, WalkAgainstGrowth) {
  run_model({2}, [] {
    Growing g;
    g.attach(64, 1);
    spawn([&g] { g.attach(64 + 16 * 8, 2); });
    spawn([&g] { g.attach(9, 3); });
    spawn([&g] {
      uint64_t seen = 0;
      g.table.for_each([&seen](uint32_t index, Pair& slot) {
        const uint64_t meta = slot.load_meta();
        if (meta != 0) seen |= 1u << meta;
        expect(meta != 1 || index == 64, "each at its index");
        expect(meta != 2 || index == 64 + 16 * 8, "each at its index");
        expect(meta != 3 || index == 9, "each at its index");
      });
      expect((seen & 2) != 0, "what was there before is seen");
    });
    join();
    g.finish();
  });
}

TEST(Growth, WalkAgainstFirstGrowth) {
  run_model({3}, [] {
    Growing g;
    spawn([&g] { g.attach(64, 1); });
    spawn([&g] {
      g.table.for_each([](uint32_t index, Pair& slot) {
        if (slot.load_meta() != 0) expect(index == 64, "at its index");
      });
    });
    join();
    g.finish();
  });
}

// A walk visits each leaf that its thread has used, whichever thread has made it.
TEST(Growth, WalkFindsItsOwn) {
  run_model({}, [] {
    Growing g;
    spawn([&g] { g.attach(9, 1); });
    spawn([&g] {
      g.attach(10, 2);
      bool seen = false;
      g.table.for_each([&seen](uint32_t index, Pair& slot) {
        if (slot.load_meta() == 2) seen = index == 10;
      });
      expect(seen, "what it has attached itself");
    });
    join();
    g.finish();
  });
}

// get's own way down the tree finds what was there before, and never an unfinished slot.
void get_against_growth(Bound bound, uint32_t before, uint32_t beside) {
  run_model(bound, [=] {
    Growing g;
    auto keyval = [](uint32_t index) { return id::make(0, 1, index); };
    auto meta = [&](uint32_t index) {
      return meta::attached(stripe::name(keyval(0), 0), ATTRCACHE_AS_POINTER, index);
    };
    auto get = [&](uint32_t index) {
      void* value = nullptr;
      const auto* table = reinterpret_cast<const attrcache_table*>(&g.table);
      // With no kind to ask, what isn't found is an error.
      const int result = attrcache::get(nullptr, table, static_cast<int>(keyval(index)), &value);
      expect(result != ATTRCACHE_OK || reinterpret_cast<uintptr_t>(value) == index, "its value");
      return result == ATTRCACHE_OK;
    };
    g.attach(before, meta(before));
    spawn([&] { g.attach(beside, meta(beside)); });
    spawn([&] {
      const bool seen = get(beside);
      expect(get(before), "what was there before is found");
      expect(!seen || get(beside), "what was there stays");
    });
    join();
    expect(get(before) && get(beside), "both are found");
    g.finish();
  });
}

TEST(Growth, GetAgainstFirstLeaf) { get_against_growth({}, 1, 4); }
TEST(Growth, GetAgainstSecondLeaf) { get_against_growth({}, 4, 9); }
TEST(Growth, GetAgainstFirstTree) { get_against_growth({}, 3, 64); }
TEST(Growth, GetAgainstDirectory) { get_against_growth({}, 1, 3000); }
TEST(Growth, GetAgainstAnotherPlace) { get_against_growth({}, 64, 72); }
TEST(Growth, GetAgainstANodeBetween) { get_against_growth({}, 64, 64 + 16 * 8); }
TEST(Growth, GetAgainstTwoNodesBetween) { get_against_growth({}, 64, 64 + 256 * 8); }
TEST(Growth, GetAgainstALeafBelow) { get_against_growth({}, 64 + 16 * 8, 64); }

// Through the C API: get and set at far indices.
TEST(Growth, GetAgainstFirstSetBehindTheDirectory) {
  run_with_fixture({2, 1}, [](Fixture& f) {
    static int fillers[64];
    for (int i = 0; i < 10; ++i) attrcache_keyval_create(f.kind(), nullptr, &fillers[i]);
    f.make_key(Fixture::kDelete);
    spawn([&f] { f.set(0, 0, 1); });
    spawn([&f] { f.set(0, 0, 2); });
    spawn([&f] {
      f.get(0, 0);
      f.get(0, 0);
    });
  });
}

// A dup of a table that is growing reads only that table's own memory.
TEST(Growth, CopyAgainstDirectory) {
  run_with_fixture({}, [](Fixture& f) {
    static int fillers[4];
    for (int& filler : fillers) attrcache_keyval_create(f.kind(), nullptr, &filler);
    f.make_key(Fixture::kNone);
    spawn([&f] { f.set(0, 0, 1); });
    spawn([&f] {
      auto& registry = *reinterpret_cast<Registry*>(f.kind());
      const int result = copy_attributes({registry, Table::of(&f.table(0)), nullptr},
                                         {registry, Table::of(&f.table(1)), nullptr}, nullptr);
      expect(result == ATTRCACHE_OK, "the table was not moved");
    });
  });
}

}  // namespace
}  // namespace attrcache::model
