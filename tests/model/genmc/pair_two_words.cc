// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The Pair of two words (lib/platform/pair_two_words.h).

#include "platform/pair_two_words.h"

#include "tests/model/genmc/harness.h"

namespace attrcache::genmc {

constexpr uint64_t kMeta = pair_bits::kVisible;  // of a C pointer; numbers are added
constexpr uint64_t meta(uint64_t number) { return kMeta | number << 40; }

// Values are the numbers of cells. A thread writes the cell before it stores the value.
struct Slot {
  TwoWordPair pair;
  volatile int cells[4] = {};

  void begin() {
    cells[1] = 1;
    pair.store_unshared({1, meta(1)});
  }
  bool put(SlotContent expected, uint64_t value, uint64_t number) {
    cells[value] = static_cast<int>(value);
    return pair.compare_exchange(expected, {value, meta(number)});
  }
  // Value and meta belong together, and what the value points to is there.
  uint64_t look() {
    const SlotContent seen = pair.load();
    expect(seen.meta == meta(seen.value));
    expect(cells[seen.value] == static_cast<int>(seen.value));
    return seen.value;
  }
};
constinit Slot s;
constinit bool done[2];

// One thread replaces the value twice; another loads twice, and never sees an older value.
void replacements() {
  s.begin();
  run(
      [] {
        s.put({1, meta(1)}, 2, 2);
        s.put({2, meta(2)}, 3, 3);
      },
      [] {
        const uint64_t first = s.look();
        expect(s.look() >= first);
      });
  expect(s.look() == 3);
}

// The same with peek(), which doesn't wait: the value is attached all the time.
void peeks() {
  s.begin();
  run(
      [] {
        s.put({1, meta(1)}, 2, 2);
      },
      [] {
        const SlotContent first = s.pair.peek();
        const SlotContent second = s.pair.peek();
        expect((first.meta & kMeta) != 0 && (second.meta & kMeta) != 0);
        expect(second.value >= first.value);
        expect(s.cells[second.value] == static_cast<int>(second.value));
      });
}

// Of two threads that replace the same value, one succeeds; a third loads.
void two_of_the_same() {
  s.begin();
  run(
      [] {
        done[0] = s.put({1, meta(1)}, 2, 2);
      },
      [] {
        done[1] = s.put({1, meta(1)}, 3, 3);
      },
      [] { s.look(); });
  expect(done[0] != done[1]);
  expect(s.look() == (done[0] ? 2 : 3));
}

// Replaced under one meta, as S2 does: the value decides.
void same_meta() {
  s.begin();
  run([] { done[0] = s.put({1, meta(1)}, 2, 1); }, [] { done[1] = s.put({1, meta(1)}, 3, 1); });
  expect(done[0] != done[1]);
  expect(s.pair.load().value == (done[0] ? 2 : 3));
}

// A claim swaps meta alone. Either it or the replacement then owns the value.
void claim() {
  s.begin();
  run(
      [] {
        uint64_t now = meta(1);
        done[0] = s.pair.compare_exchange_meta(now, meta(7));
        if (done[0]) s.cells[1] = 0;  // delete_fn
      },
      [] {
        done[1] = s.put({1, meta(1)}, 2, 2);
      });
  expect(done[0] != done[1]);
}

}  // namespace attrcache::genmc

ATTRCACHE_GENMC_MAIN
