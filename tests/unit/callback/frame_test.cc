// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

namespace attrcache {
namespace {

struct Scope {
  Scope(ThreadState& thread, const void* table) : frame(), scope(thread, frame) {
    frame.table = table;
  }
  Frame frame;
  FrameScope scope;
};

// However deep, and whatever was looked for before, the frames of a table are found.
TEST(FrameTest, FramesAreFoundByTheirTable) {
  std::mt19937 random(1);
  alignas(16) static char tables[16][64];
  for (const int depth : {10, 100, 3000}) {
    ThreadState thread = {};
    std::deque<Scope> frames;
    for (int step = 0; step < 10 * depth; ++step) {
      // Now towards that depth, now away from it.
      const int goal = step % (4 * depth) < 2 * depth ? depth : 0;
      const bool deeper = static_cast<int>(frames.size()) < goal || random() % 4 == 0;
      if (deeper) {
        frames.emplace_back(thread, tables[random() % 16]);
      } else if (!frames.empty()) {
        frames.pop_back();
      }
      if (random() % 8 != 0) continue;
      const void* const table = tables[random() % 16];
      std::vector<const Frame*> found, expected;
      for_each_frame_of(thread.innermost, table, [&](const Frame& f) { found.push_back(&f); });
      for (const Scope& scope : frames) {
        if (scope.frame.table == table) expected.push_back(&scope.frame);
      }
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(found, expected);
    }
    while (!frames.empty()) frames.pop_back();
    EXPECT_EQ(thread.innermost, nullptr);
  }
}

// Those of a table are found in few steps, however many others there are.
TEST(FrameTest, ThePathToATableIsShort) {
  constexpr int kDepth = 100000;
  ThreadState thread = {};
  std::vector<char> tables(64 * kDepth);
  std::deque<Scope> frames;
  for (int i = 0; i < kDepth; ++i) frames.emplace_back(thread, &tables[64 * i]);
  index_frames(thread.innermost);
  int longest = 0;
  for (const Scope& scope : frames) {
    int steps = 0;
    uint64_t path = path_to(scope.frame.table);
    for (const Frame* f = scope.frame.indexed.root; f != &scope.frame; ++steps) {
      f = f->indexed.below[path >> 63];
      path = path << 1 | path >> 63;
    }
    longest = std::max(longest, steps);
  }
  EXPECT_LE(longest, 50) << "of 17 at least";
  while (!frames.empty()) frames.pop_back();
}

}  // namespace
}  // namespace attrcache
