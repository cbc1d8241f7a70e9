// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Tables that several threads make grow at once: all threads get the same slots, nothing is lost,
// and a slot that a thread finds is initialized.

#include "platform/memory.h"
#include "table/dup_free.h"
#include "table/table.h"
#include "tests/model/race.h"

namespace attrcache::model {
namespace {

// An attribute's value is its index.
struct Growing {
  alignas(64) Table table = {};
  uint32_t attached[3] = {};
  int count = 0;

  static id::Keyval keyval(uint32_t index) { return id::make(0, 1, index); }
  static uint64_t meta(uint32_t index) {
    return meta::attached(stripe::name(keyval(index), 0), ATTRCACHE_AS_POINTER, index);
  }
  // Makes its slot if needed.
  void attach(uint32_t index) {
    Pair* slot =
        index < kInlineSlots ? &table.inline_slots[index] : table.grow(index, kProcessMemory);
    expect(slot != nullptr, "there is memory");
    SlotContent now = slot->load();
    count_attribute(*slot, id::offset_at(index));
    while (!slot->compare_exchange(now, {index, meta(index)})) {
    }
    attached[count++] = index;
  }
  // Of what was attached last, not in the table itself.
  void detach(uint32_t index) {
    --count;
    Pair* const slot = table.grow(index, kProcessMemory);
    slot->clear_unshared();
    uncount_attribute(*slot, id::offset_at(index));
  }
  // Whether something is at an index, by two ways.
  bool find(uint32_t index) {
    const Pair* slot = static_cast<const Table&>(table).at_offset(id::offset_at(index));
    const SlotContent word = slot != nullptr ? slot->load() : SlotContent{0, 0};
    expect(word.meta == 0 || (word.meta == meta(index) && word.value == index), "it, or nothing");
    return word.meta != 0;
  }
  bool walk(uint32_t index) {
    bool seen = false;
    table.for_each([&](uint32_t at, Pair& slot) {
      const uint64_t there = slot.load_meta();
      expect(there == 0 || there == meta(at), "each at its index");
      seen |= at == index && there != 0;
    });
    return seen;
  }
  void finish() {
    for (int i = 0; i < count; ++i) {
      expect(find(attached[i]) && walk(attached[i]), "all are there");
    }
    table.clear(kProcessMemory);
  }
};

using Way = bool (Growing::*)(uint32_t index);
auto attach(uint32_t index) {
  return [index](Growing& g) { g.attach(index); };
}
auto finds(Way way, uint32_t index) {
  return [=](Growing& g) { expect((g.*way)(index), "what was there before, or is its own"); };
}

void grow(Options bound, uint32_t first, uint32_t second) {
  run_race<Growing>(bound, nothing, attach(first), attach(second), [first](Growing& g) {
    if (g.find(first)) expect(g.find(first), "what was there stays");
  });
}
TEST(Growth, Directory) { grow({}, 3, 4); }
TEST(Growth, SameLeaf) { grow({}, 9, 9); }
TEST(Growth, TwoLeaves) { grow({3}, 9, 17); }
TEST(Growth, FirstTree) { grow({2}, 64, 65); }
TEST(Growth, TwoPlacesOfATree) { grow({2}, 64, 72); }
// Leaves 8 and 24: a node comes between; and leaves 8 and 264: one below another.
TEST(Growth, OnePlaceOfATree) { grow({2, 1}, 64, 64 + 16 * 8); }
TEST(Growth, OnePlaceTwoLevelsDown) { grow({2, 1}, 64, 64 + 256 * 8); }

// Beside a third leaf that is in the place already.
void race_for_the_place_of(uint32_t there, uint32_t first, uint32_t second) {
  run_race<Growing>({2}, attach(there), attach(first), attach(second),
                    finds(&Growing::find, there));
}
TEST(Growth, TwoMoreInOnePlace) { race_for_the_place_of(64, 64 + 16 * 8, 64 + 32 * 8); }
TEST(Growth, TwoMoreInOnePlaceTwoLevelsDown) {
  race_for_the_place_of(64, 64 + 256 * 8, 64 + 512 * 8);
}
TEST(Growth, TheSameInOnePlace) { race_for_the_place_of(64, 64 + 16 * 8, 65 + 16 * 8); }

// The library's own walk over all slots, beside growth.
TEST(Growth, WalkAgainstGrowth) {
  run_race<Growing>({2}, attach(64), attach(64 + 16 * 8), attach(9), finds(&Growing::walk, 64));
}
TEST(Growth, WalkAgainstFirstGrowth) {
  run_race<Growing>({3}, nothing, attach(64), [](Growing& g) { g.walk(64); });
}
// A walk visits each leaf that its thread has used, whichever thread has made it.
TEST(Growth, WalkFindsItsOwn) {
  run_race<Growing>({}, nothing, attach(9), in_turn(attach(10), finds(&Growing::walk, 10)));
}

// A group of leaves has nothing any more: the walk goes on behind them, where two threads add leaves.
TEST(Growth, WalkPassesOverAGroup) {
  constexpr uint32_t kBehind = kDirectorySlots + kGroupLeaves * kLeafSlots;
  const auto empty = [](Growing& g) {
    for (uint32_t index = kDirectorySlots; index < kBehind; index += kLeafSlots) {
      g.attach(index);
      g.detach(index);
    }
  };
  run_race<Growing>({}, empty, attach(kBehind), [](Growing& g) { g.walk(kBehind); });
  run_race<Growing>(
      {2}, empty, attach(kBehind),
      in_turn(attach(kBehind + kLeafSlots), finds(&Growing::walk, kBehind + kLeafSlots)));
}

// A look-up finds what was there before, and never an unfinished slot. (get's goes the same way, by
// accesses that a model doesn't see: attrcache_inline.h.)
void find_against_growth(uint32_t before, uint32_t beside) {
  run_race<Growing>({}, attach(before), attach(beside), [=](Growing& g) {
    const bool seen = g.find(beside);
    expect(g.find(before), "what was there before is found");
    expect(!seen || g.find(beside), "what was there stays");
  });
}
TEST(Growth, FindAgainstFirstLeaf) { find_against_growth(1, 4); }
TEST(Growth, FindAgainstSecondLeaf) { find_against_growth(4, 9); }
TEST(Growth, FindAgainstFirstTree) { find_against_growth(3, 64); }
TEST(Growth, FindAgainstDirectory) { find_against_growth(1, 3000); }
TEST(Growth, FindAgainstAnotherPlace) { find_against_growth(64, 72); }
TEST(Growth, FindAgainstANodeBetween) { find_against_growth(64, 64 + 16 * 8); }
TEST(Growth, FindAgainstTwoNodesBetween) { find_against_growth(64, 64 + 256 * 8); }
TEST(Growth, FindAgainstALeafBelow) { find_against_growth(64 + 16 * 8, 64); }

// Through the C API: get and set at far indices.
void fill(Fixture& f, int indices) {
  int keyval;
  for (int i = 0; i < indices; ++i) attrcache_keyval_create(f.kind(), nullptr, &keyval);
}
TEST(Growth, GetAgainstFirstSetBehindTheDirectory) {
  race({}, in_turn([](Fixture& f) { fill(f, 10); }, keyval()), set(1), set(2), in_turn(get, get));
}

// What is counted (T5) is what is attached, which finish() checks; and a walk finds what is there all
// the time.
constexpr int kFar = kDirectorySlots;
constexpr auto walk = [](Fixture& f) {
  Table& table = Table::of(&f.table(0));
  const auto there = [&] {
    const Pair* const slot = table.at_offset(id::offset_at(kFar));
    return slot != nullptr ? slot->load_meta() : 0;
  };
  const uint64_t before = there();
  bool walked = false;
  table.for_each([&](uint32_t at, Pair& it) { walked |= at == kFar && it.load_meta() != 0; });
  expect(walked || before == 0 || before != there(), "a walk finds it");
};
TEST(Growth, CountsWhatComesAndGoes) {
  // So that a set that replaces value 1 doesn't inherit its number.
  const auto older = [](Fixture& f) { Table::of(&f.table(0)).tick(); };
  for (const auto callbacks : {Fixture::kNone, Fixture::kDelete, Fixture::kDeleteOnce}) {
    const auto empty = in_turn([](Fixture& f) { fill(f, kFar); }, keyval(callbacks));
    const auto one = in_turn(empty, set(1), older);
    race({{1, 0}}, in_turn(one, erase), set(4), set(5), walk);
    race({{2, 0}}, in_turn(one, erase), set_if_absent(2), set_if_absent(3), erase);
    race({{1, 1}}, one, erase, erase, walk);
    race({{2, 0}}, one, erase, set(2), walk);
    if (callbacks == Fixture::kNone) continue;
    race({{1, 0}}, in_turn(one, fails()), erase, set(2), erase);
    race({{1, 0}}, in_turn(one, fails()), set(2), erase);
    race({{1, 0}}, in_turn(one, use), use, erase, walk);
  }
}

// A free deletes one attribute at once, and then not the other, whose keyval was freed meanwhile. That
// one's destructor attaches and borrows a third, so the free fails.
TEST(Growth, AFreeCountsWhatItHasDeletedAtOnce) {
  static Fixture* in;
  static int keyvals[3];
  static attrcache_borrowed held;
  static const auto attach = [](int n) {
    attrcache_set(in->kind(), &in->table(0), nullptr, keyvals[n], &held, nullptr);
  };
  const auto two = [](Fixture& f) {
    in = &f;
    held = {};
    fill(f, kFar);
    attrcache_callbacks callbacks[3] = {};
    callbacks[1].destructor = [](void*, void*) {
      if (now().thread != 0) return;  // the object is freed already
      attach(2);
      attrcache_borrow(in->kind(), &in->table(0), keyvals[2], &held);
    };
    callbacks[2].delete_fn = reinterpret_cast<attrcache_callback*>(
        +[](void*, int, void*, void*) -> int { return ATTRCACHE_OK; });
    for (int n : {0, 1, 2}) attrcache_keyval_create(f.kind(), &callbacks[n], &keyvals[n]);
    attach(0), attach(1);
  };
  const auto free = [](Fixture& f) {
    if (is_freed(f)) return;
    expect(support::counts_are_right(f.table(0)), "what is attached is counted");
    attrcache_give_back(&held);
    expect(is_freed(f), "nothing is held any more");
  };
  race({{1, 0}}, two, free, [](Fixture& f) { attrcache_keyval_free(f.kind(), &keyvals[1]); });
}

// A dup of a table that is growing reads only that table's own memory.
TEST(Growth, CopyAgainstDirectory) {
  const auto copy_in_order = [](Fixture& f) {
    Registry& registry = Registry::of(f.kind());
    const int result = copy_attributes({registry, Table::of(&f.table(0)), nullptr},
                                       {registry, Table::of(&f.table(1)), nullptr}, nullptr);
    expect(result == ATTRCACHE_OK, "the table was not moved");
  };
  race({{}}, in_turn([](Fixture& f) { fill(f, 4); }, keyval(Fixture::kNone)), set(1),
       copy_in_order);
}

}  // namespace
}  // namespace attrcache::model
