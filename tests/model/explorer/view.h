// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a thread knows, and what a release store passes on: for each thread how much of it happens
// before (a vector clock), and for each contended location the oldest store that may still be read.
// Two views are joined by taking the maximum of each element, so both share one array.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_VIEW_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_VIEW_H_

#include <cstdint>

#include "tests/model/explorer/types.h"

namespace attrcache::model {

struct View {
  static constexpr unsigned kEntries = 128;
  static constexpr unsigned kFirstLocation = kMaxThreads;

  // [0, kMaxThreads): clocks; from kFirstLocation on: positions in the modification orders.
  alignas(16) uint16_t at[kEntries];

  void join(const View& other) { join(other, 0); }
  // As a fence does it alone: the other's stores can't be missed any more, but nothing of the other
  // happens before what follows.
  void join_locations(const View& other) { join(other, kFirstLocation); }

 private:
  void join(const View& other, unsigned first) {
    for (unsigned i = first; i < kEntries; ++i) at[i] = at[i] < other.at[i] ? other.at[i] : at[i];
  }
};

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_VIEW_H_
