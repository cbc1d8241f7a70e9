// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/spin.h"

#include <sched.h>

namespace attrcache {

void Spin::wait() {
  constexpr unsigned kLooks = 16;
  if (rounds_ < kLooks) {
    ++rounds_;
  } else {
    sched_yield();
  }
}

}  // namespace attrcache
