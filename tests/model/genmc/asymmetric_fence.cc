// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Full readers beside one who deletes (lib/platform/asymmetric_fence.h). Light readers are the
// explorer's alone: no memory model of a language knows the kernel's fence.

#include "platform/asymmetric_fence.h"

#include "tests/model/genmc/harness.h"

namespace attrcache {

bool kernel_fence_ready() { return false; }
void kernel_fence() {}

namespace genmc {

struct Value {
  Atomic<int> attached{1};
  Atomic<uint64_t> cells[2] = {};
  volatile int content = 1;

  void read(int reader) {
    const AsymmetricFence fence(true);
    fence.announce(cells[reader], uint64_t{1});
    if (attached.load(kAcquire) == 1) expect(content == 1);
    fence.announce<AsymmetricFence::Of::kLight>(cells[reader], uint64_t{0});
  }
  void remove(int readers) {
    const AsymmetricFence fence(true);
    int one = 1;
    if (!attached.compare_exchange_strong(one, 0, kAcqRel, kAcquire)) return;
    fence.heavy_fence();
    for (int reader = 0; reader < readers; ++reader) {
      if (fence.look(cells[reader]) != 0) return;  // it would wait
    }
    content = 0;
  }
};
constinit Value v;

void one_reader() {
  run([] { v.read(0); }, [] { v.remove(1); });
}
void two_readers() {
  run([] { v.read(0); }, [] { v.read(1); }, [] { v.remove(2); });
}
// Reads again and again, so that its cell goes from none to one and back.
void reader_again() {
  run(
      [] {
        v.read(0);
        v.read(0);
      },
      [] { v.remove(1); });
}

}  // namespace genmc
}  // namespace attrcache

ATTRCACHE_GENMC_MAIN
