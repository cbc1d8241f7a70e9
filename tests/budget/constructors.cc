// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a report adds to a constructor and a free, by how many objects are alive meanwhile. To be
// run under valgrind --tool=callgrind --collect-atstart=no; see bench/harness/count.cc.

#include <valgrind/callgrind.h>

#include <cstdint>
#include <deque>
#include <string>

#include "mpi/native/kinds.h"
#include "mpi/recording/made.h"

namespace {

using namespace attrcache::mpi;

constexpr uintptr_t kShortLived = 1'000'000;

[[gnu::noinline]] void make(uintptr_t key) { report::object_made(kCommunicator, key); }

// Others are made and freed after each other, as handles are used again.
void make_and_free(int times) {
  for (int i = 0; i < times; ++i) {
    make(kShortLived + static_cast<uintptr_t>(i));
    report::object_freed(kCommunicator, kShortLived + static_cast<uintptr_t>(i));
  }
}

void count(uintptr_t alive, int times) {
  static std::deque<std::string> labels;  // valgrind reads one later, so it must stay where it is
  const std::string& label =
      labels.emplace_back(std::to_string(alive) + " " + std::to_string(times));
  make_and_free(1);
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
  make_and_free(times);
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(label.c_str());
}

}  // namespace

int main() {
  uintptr_t made = 0;
  for (const uintptr_t alive : {1, 100, 10'000}) {
    while (made < alive) make(++made * 64);
    count(alive, 10);
    count(alive, 110);
  }
}
