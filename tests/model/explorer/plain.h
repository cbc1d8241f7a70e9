// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A cell that isn't atomic, as a user's value is not. Two accesses of two threads, one of them a
// write, of which neither happens before the other, are a race and fail the execution, in whichever
// order they came.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_PLAIN_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_PLAIN_H_

#include <cstdint>

#include "tests/model/explorer/types.h"

namespace attrcache::model {

// Who has accessed a cell, and how far each thread was when it did.
class Races {
 public:
  void read(const void* cell);
  void write(const void* cell);

 private:
  uint16_t reads_[kMaxThreads] = {};
  uint16_t writes_[kMaxThreads] = {};
};

template <typename T>
class Plain {
 public:
  Plain() = default;
  explicit Plain(T value) : value_(value) {}

  T read() const {
    races_.read(this);
    return value_;
  }
  void write(T value) {
    races_.write(this);
    value_ = value;
  }

 private:
  T value_ = {};
  mutable Races races_;
};

// Says that the running thread reads memory of the heap that is no cell: it must not be released,
// nor be released later by a thread that doesn't know of this.
void touch(const void* memory);

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_PLAIN_H_
