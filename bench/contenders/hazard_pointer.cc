// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A hazard pointer as one writes it by hand: published with a full exchange, so that a
// deleter needs no other barrier. It is the yardstick for borrow. Who replaces a value scans all hazard
// pointers at once, so that a value that nobody uses is freed within the call.

#include <atomic>
#include <utility>
#include <vector>

#include "bench/contenders/holding.h"

namespace {

struct alignas(64) Hazard {
  std::atomic<void*> pointer{nullptr};
  std::atomic<bool> taken{false};
};
Hazard hazards[256];
std::atomic<int> used{0};  // how many of them have ever been taken
constinit thread_local Hazard* mine = nullptr;
// What the thread has replaced while somebody used it.
thread_local std::vector<void*> retired;

void scan() {
  std::erase_if(retired, [](void* old) {
    for (int i = used.load(std::memory_order_acquire); i-- != 0;) {
      if (hazards[i].pointer.load(std::memory_order_acquire) == old) return false;
    }
    bench::Used::free(old);
    return true;
  });
}

template <typename Use>
[[gnu::always_inline]] inline void* protect(const std::atomic<void*>& value, Use use) {
  void* seen = value.load(std::memory_order_relaxed);
  for (;;) {
    mine->pointer.exchange(seen, std::memory_order_seq_cst);
    void* const again = value.load(std::memory_order_acquire);
    if (again == seen) break;
    seen = again;
  }
  use(seen);
  mine->pointer.store(nullptr, std::memory_order_release);
  return seen;
}

struct Cell {
  struct Replaced {
    std::atomic<void*> value{nullptr};

    ~Replaced() { std::free(value); }
    void replace() {
      void* const old = value.exchange(bench::Used::make(), std::memory_order_seq_cst);
      if (old == nullptr) return;
      retired.push_back(old);
      scan();
    }
    void use() {
      protect(value, [](void* seen) { static_cast<bench::Used*>(seen)->check(); });
    }
  };
  std::atomic<void*> value{nullptr};

  void set(void* replacing) { value.store(replacing, std::memory_order_release); }
  void* borrow() {
    return protect(value, [](void*) {});
  }
};

struct HazardPointer : bench::Holding<Cell> {
  struct Thread {
    Thread() {
      for (int i = 0; mine == nullptr; ++i) {
        if (hazards[i].taken.exchange(true)) continue;
        mine = &hazards[i];
        for (int before = used; before <= i && !used.compare_exchange_weak(before, i + 1);) {
        }
      }
    }
    ~Thread() {
      scan();
      std::exchange(mine, nullptr)->taken = false;
    }
  };
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<HazardPointer>("hazard_pointer", {.threads = 200});
}
