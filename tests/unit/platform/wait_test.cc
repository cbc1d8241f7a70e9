// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/wait.h"

#include <gtest/gtest.h>

namespace attrcache {
namespace {

TEST(WaitTest, BackoffComesBack) {
  Backoff backoff;
  for (int i = 0; i < 300; ++i) backoff.relax();
}

}  // namespace
}  // namespace attrcache
