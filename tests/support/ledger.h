// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Values that are never freed, with counts of what happened to each. So a value that is deleted
// twice or never is counted, where a real one would crash or leak. An attribute's value is the
// address of one of these, through which callbacks reach the counts.

#ifndef ATTRCACHE_TESTS_SUPPORT_LEDGER_H_
#define ATTRCACHE_TESTS_SUPPORT_LEDGER_H_

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

namespace attrcache::support {

class Ledger {
 public:
  struct Value {
    std::atomic<int> handed_in{0};  // a set of it succeeded, or a copy_fn returned it
    std::atomic<int> refused{0};    // a set of it returned an error
    std::atomic<int> deleted{0};    // delete_fn succeeded
    std::atomic<int> failed{0};     // delete_fn failed, and the call returned its code
    std::atomic<int> users{0};      // callbacks and borrowers that use it now
    int keyval = 0;                 // get may find it only under this keyval
    const void* object = nullptr;
    std::atomic<bool> in_delete{false};
  };

  Value* make(int keyval = 0, const void* object = nullptr) {
    std::lock_guard lock(mutex_);
    Value& value = values_.emplace_back();
    value.keyval = keyval;
    value.object = object;
    return &value;
  }

  // To be called when all threads are joined and all attributes are deleted. A value whose
  // delete_fn failed may be detached without having been deleted: that happens if another thread
  // deleted or replaced it while delete_fn ran.
  void expect_all_accounted_for() const {
    size_t twice = 0, never = 0, wrongly = 0;
    for (const Value& value : values_) {
      if (value.handed_in == 1) {
        twice += value.deleted > 1;
        never += value.deleted == 0 && value.failed == 0;
        wrongly += value.refused != 0;
      } else {
        // The value was refused, so it was never attached.
        wrongly += value.refused != 1 || value.handed_in != 0 || value.deleted != 0;
      }
    }
    EXPECT_EQ(twice, 0u) << "values deleted twice, of " << values_.size();
    EXPECT_EQ(never, 0u) << "values never deleted, of " << values_.size();
    EXPECT_EQ(wrongly, 0u) << "values deleted that were refused, of " << values_.size();
  }

  static Value* at(void* value) { return static_cast<Value*>(value); }

 private:
  mutable std::mutex mutex_;
  std::deque<Value> values_;
};

inline intptr_t as_value(const Ledger::Value* value) { return reinterpret_cast<intptr_t>(value); }

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_SUPPORT_LEDGER_H_
