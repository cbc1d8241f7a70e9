// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/frame.h"

#include <gtest/gtest.h>

namespace attrcache {
namespace {

TEST(FrameTest, FramesNest) {
  ThreadState thread = {};
  Frame outer = {};
  Frame inner = {};
  {
    FrameScope outside(thread, outer);
    {
      FrameScope inside(thread, inner);
      EXPECT_EQ(thread.innermost, &inner);
      EXPECT_EQ(inner.outer, &outer);
    }
    EXPECT_EQ(thread.innermost, &outer);
  }
  EXPECT_EQ(thread.innermost, nullptr);
}

TEST(FrameTest, BorrowsEndInAnyOrder) {
  const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    ThreadState thread = {};
    const int slots[3] = {};
    Borrow borrows[3] = {};
    for (int b = 0; b < 3; ++b) {
      borrows[b].slot = &slots[b];
      enter_borrow(thread, borrows[b]);
    }
    bool in[] = {true, true, true};
    for (const int i : order) {
      leave_borrow(borrows[i]);
      in[i] = false;
      for (int b = 0; b < 3; ++b) EXPECT_EQ(has_borrowed(thread, &slots[b]), in[b]);
    }
    EXPECT_EQ(thread.borrows, nullptr);
  }
}

}  // namespace
}  // namespace attrcache
