// SPDX-License-Identifier: Apache-2.0

#include "callback/frame.h"

#include <gtest/gtest.h>

namespace attrcache {
namespace {

TEST(FrameTest, FramesLeaveInAnyOrder) {
  const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    Frame frames[3] = {};
    for (Frame& frame : frames) enter_frame(frame);
    EXPECT_EQ(this_thread().innermost, &frames[2]);
    bool in[] = {true, true, true};
    for (const int i : order) {
      leave_frame(frames[i]);
      in[i] = false;
      Frame* expected = nullptr;
      for (int f = 0; f < 3; ++f) expected = in[f] ? &frames[f] : expected;
      EXPECT_EQ(this_thread().innermost, expected);
    }
  }
}

}  // namespace
}  // namespace attrcache
