// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Concurrency Kit's epochs: a thread is in a section while it uses a value.

// The headers are C, with one conversion that C++ doesn't make by itself.
extern "C" {
#include <ck_pr.h>
struct ck_stack_entry;
#define ck_pr_fas_ptr(place, value) static_cast<ck_stack_entry*>(ck_pr_fas_ptr(place, value))
#include <ck_epoch.h>
#undef ck_pr_fas_ptr
}

#include <atomic>

#include "bench/contenders/holding.h"

namespace {

ck_epoch_t* epoch() {
  static ck_epoch_t* const it = [] {
    static ck_epoch_t made;
    ck_epoch_init(&made);
    return &made;
  }();
  return it;
}
constinit thread_local ck_epoch_record_t* record = nullptr;

struct Cell {
  std::atomic<void*> value{nullptr};

  void set(void* replacing) { value.store(replacing, std::memory_order_release); }
  void* borrow() {
    ck_epoch_section_t section;
    ck_epoch_begin(record, &section);
    void* const held = value.load(std::memory_order_acquire);
    ck_epoch_end(record, &section);
    return held;
  }
};

struct CkEpoch : bench::Holding<Cell> {
  struct Thread {
    Thread() {
      record = ck_epoch_recycle(epoch(), nullptr);
      if (record != nullptr) return;
      record = new ck_epoch_record_t;  // which the epoch keeps, and hands to later threads
      ck_epoch_register(epoch(), record, nullptr);
    }
    ~Thread() { ck_epoch_unregister(record); }
  };
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<CkEpoch>("ck_epoch", {.keyvals = 64});
}
