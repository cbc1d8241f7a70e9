// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A cell that isn't atomic, as a user's value isn't. Two accesses by different threads, at least
// one of them a write, are a race if neither happens before the other. A race fails the execution,
// whatever the order in which the accesses were run.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_PLAIN_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_PLAIN_H_

#include <cstdint>

#include "tests/model/explorer/types.h"

namespace attrcache::model {

// Which threads have accessed a cell, and how far each of them was then.
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

// Tells the heap that the running thread reads memory that is not a cell. The read fails if the
// memory is released, and so does a later release that this read doesn't happen before.
void touch(const void* memory);

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_PLAIN_H_
