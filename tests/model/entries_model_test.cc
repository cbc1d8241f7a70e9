// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Indices that threads take for keyvals and put back: each belongs to one thread at a time, which
// sees what was done with it before; and none is said to be free, or all in use, when it isn't so.

#include "keyval/entries.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

struct Indices : Entries {
  Indices() : Entries(1) {}
  ~Indices() { release(kProcessMemory); }

  // As a keyval is made and ends, which counts a generation.
  uint32_t take() {
    id::Offset offset{};
    int error;
    Entry* const entry = Entries::take(kProcessMemory, &offset, &error);
    expect(entry != nullptr, "an index is free");
    const auto index = static_cast<uint32_t>(id::bytes(offset) >> id::kIndexShift);
    expect(index < used_indices(), "it is counted");
    owner[index].write(1);
    const uint64_t generation = uint64_t{1} << entry_word::kGenerationsShift;
    entry->word.store(entry->word.load(kRelaxed) + generation, kRelease);
    return index;
  }
  void put_back(uint32_t index) {
    owner[index].write(2);
    Entries::put_back(at(id::offset_at(index)));
  }
  void turn() { put_back(take()); }
  void finish() {
    for_each_entry([](const Entry& entry, const References&) {
      expect(entry_word::is_free(entry.word.load(kAcquire)), "none is lost");
    });
  }
  Plain<int> owner[kCapacity];
};

constexpr auto turns = [](int times) {
  return [times](Indices& i) {
    for (int t = 0; t < times; ++t) i.turn();
  };
};

TEST(Entries, FirstTurns) { run_race<Indices>({}, nothing, turns(1), turns(1)); }
TEST(Entries, ThreeFirstTurns) { run_race<Indices>({2, 0}, nothing, turns(1), turns(1), turns(1)); }
// One thread comes by again and again while another has moved the cursor past an index.
TEST(Entries, TurnsAgainstTheNextRounds) {
  run_race<Indices>({3, 2}, turns(2), turns(1), turns(Entries::kRound + 1));
  run_race<Indices>({2, 0}, turns(2), turns(2), turns(2), turns(1));
}
// A round that takes too few is going on to a new index.
TEST(Entries, TurnsAgainstGrowth) {
  const auto take_two = [](Indices& i) {
    const uint32_t first = i.take(), second = i.take();
    i.put_back(second);
    i.put_back(first);
  };
  run_race<Indices>({2, 2}, turns(2), take_two, take_two);
}
// All are in use but a few. There is always one more for a thread, though others free and take some
// before and behind its look.
TEST(Entries, NearlyAllInUse) {
  for (const uint32_t freed : {3u, 9u}) {
    run_model({2, 2}, [freed] {
      Indices i;
      for (uint32_t t = 0; t < Entries::kCapacity; ++t) i.take();
      i.put_back(5);
      i.put_back(7);
      spawn([&i] { i.turn(); });
      spawn([&i, freed] {
        i.take();
        i.put_back(freed);
        i.take();
      });
      join();
    });
  }
}

// The same while the cursor goes round, and is where it was when the look began.
TEST(Entries, TheCursorComesRoundDuringALook) {
  run_model({2, 0}, [] {
    Indices i;
    for (uint32_t t = 0; t < Entries::kCapacity; ++t) i.take();
    i.put_back(5);
    i.put_back(7);
    spawn([&i] { i.turn(); });
    spawn([&i] {
      i.take();
      i.put_back(3);
      i.put_back(4);
      for (int t = 0; t < 2; ++t) i.take();
    });
    join();
  });
}

}  // namespace
}  // namespace attrcache::model
