// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Handing a deletion off to the holders of the value (lib/readers/tomb.h), with full readers. The
// steps are the library's. Their order is repeated here, because the library's own loops
// (lib/table/hand_off.cc) go through cells and tombs that it allocates. The tomb says nothing here,
// and full fences order all: so the release of L8, and the turns, aren't needed (hold_model_test has
// scenarios in which they are).

#include "platform/asymmetric_fence.h"
#include "readers/tomb.h"
#include "tests/model/genmc/harness.h"

namespace attrcache {

bool kernel_fence_ready() { return false; }
void kernel_fence() {}

namespace genmc {

struct Left {
  Tomb tomb;
  Atomic<int> attached{1};
  Atomic<int> tombs{0};
  Atomic<uint64_t> cells[2] = {};
  volatile int content = 1;  // the value's, which delete_fn writes
  int deleted = 0;

  bool is_held() const {
    return AsymmetricFence::look(cells[0]) != 0 || AsymmetricFence::look(cells[1]) != 0;
  }
  void run_delete_fn() {
    content = 0;
    ++deleted;
  }
  // As a full reader.
  void announce(int holder, uint64_t what) {
    AsymmetricFence::announce(cells[holder], what);
    full_fence();
  }
  void hold(int holder) {
    announce(holder, 1);                                     // (L1)
    if (attached.load(kAcquire) == 1) expect(content == 1);  // (L2)
    announce(holder, 0);                                     // (L3)
    if (tombs.load(kRelaxed) != 0) end();                    // (L4) a count tells all
  }
  void end() {
    for (;;) {
      const uint64_t now = tomb.state.load(kAcquire);
      const Tomb::Phase phase = Tomb::phase(now);
      if (phase != Tomb::kOpen) return;
      if (!tomb.turn(now)) continue;  // (L5)
      if (is_held()) return;
      if (tomb.take(now)) run_delete_fn();  // (L6)
      return;
    }
  }
  void remove() {
    int one = 1;
    attached.compare_exchange_strong(one, 0, kAcqRel, kAcquire);  // (S6) or (S8)
    AsymmetricFence::heavy_fence(AsymmetricFence::Of::kFull);
    if (!is_held()) return run_delete_fn();  // (L7)
    tomb.place();                            // (L8)
    tombs.fetch_add(1, kRelaxed);
    const uint64_t open = tomb.open();
    AsymmetricFence::heavy_fence(AsymmetricFence::Of::kFull);
    if (tomb.turn(open) && !is_held() && tomb.take(open)) run_delete_fn();  // (L9, L6)
  }
};
constinit Left v;

void one_holder() {
  run([] { v.hold(0); }, [] { v.remove(); });
  expect(v.deleted == 1);
}
void two_holders() {
  run([] { v.hold(0); }, [] { v.hold(1); }, [] { v.remove(); });
  expect(v.deleted == 1);
}

}  // namespace genmc
}  // namespace attrcache

ATTRCACHE_GENMC_MAIN
