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

}  // namespace
}  // namespace attrcache
