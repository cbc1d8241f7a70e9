// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A value that is allocated before it is published, used by readers, and freed when it has been
// replaced and nobody uses it any more.

#ifndef BENCH_CONTENDERS_USED_H_
#define BENCH_CONTENDERS_USED_H_

#include <cstdint>
#include <cstdlib>

#include "bench/harness/keys.h"

namespace bench {

struct Used {
  void* link[2];  // for call_rcu
  uint64_t alive;

  static Used* make() {
    auto* const made = static_cast<Used*>(std::malloc(sizeof(Used)));
    made->alive = kAlive;
    return made;
  }
  static void free(void* used) {
    static_cast<volatile Used*>(used)->alive = 0;
    std::free(used);
  }
  void check() const { require(*static_cast<const volatile uint64_t*>(&alive) == kAlive, "keep"); }

 private:
  static constexpr uint64_t kAlive = 0x616c697665;
};

}  // namespace bench

#endif  // BENCH_CONTENDERS_USED_H_
