// SPDX-License-Identifier: Apache-2.0
//
// Values that are never really freed, and what became of each: a value that is deleted twice or
// never is counted, where a real one would crash or leak. Callbacks count in the value itself,
// through its address.

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
    std::atomic<int> handed_in{0};  // to a set that succeeded, or by a copy_fn with flag = true
    std::atomic<int> refused{0};    // by a set that returned an error
    std::atomic<int> deleted{0};    // delete_fn succeeded
    std::atomic<int> failed{0};     // delete_fn failed, and the call that ran it said so
    std::atomic<int> users{0};      // a delete_fn or copy_fn or borrower is at work on it
    int keyval = 0;                 // what it is for: get may find it nowhere else
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

  // To be called when all threads are joined and all attributes deleted. A value whose delete_fn
  // failed may have been left detached, if another thread had deleted or replaced it meanwhile; the
  // call said so.
  void expect_all_accounted_for() const {
    size_t twice = 0, never = 0, wrongly = 0;
    for (const Value& value : values_) {
      if (value.handed_in == 1) {
        twice += value.deleted > 1;
        never += value.deleted == 0 && value.failed == 0;
        wrongly += value.refused != 0;
      } else {
        // Refused: it was never attached.
        wrongly += value.refused != 1 || value.handed_in != 0 || value.deleted != 0;
      }
    }
    EXPECT_EQ(twice, 0u) << "values deleted twice, of " << values_.size();
    EXPECT_EQ(never, 0u) << "values never deleted, of " << values_.size();
    EXPECT_EQ(wrongly, 0u) << "values deleted that were refused, of " << values_.size();
  }
  size_t size() const { return values_.size(); }
  const Value& value(size_t number) const { return values_[number]; }  // while nobody makes any

  static Value* at(void* value) { return static_cast<Value*>(value); }

 private:
  mutable std::mutex mutex_;
  std::deque<Value> values_;
};

inline intptr_t as_value(const Ledger::Value* value) { return reinterpret_cast<intptr_t>(value); }

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_SUPPORT_LEDGER_H_
