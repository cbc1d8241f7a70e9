// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What happened in an execution, for the reader of a failure, and as a string that replays it.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_LOG_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/model/explorer/types.h"

namespace attrcache::model {

struct Event {
  Access access;  // of kind kNote: file is the text, line the number beside it
  Bits value;     // read, or written
  uint8_t thread;
  uint8_t stale;  // how many newer stores a load didn't read
  bool contended;
  bool failed;  // a compare-and-swap that did not swap
};

class Log {
 public:
  Log() { events_.reserve(4096); }
  void begin() { events_.clear(); }
  void add(const Event& event) { events_.push_back(event); }
  size_t size() const { return events_.size(); }

  // One line an event; accesses to locations that aren't contended are left out.
  std::string text() const;

  // "thread*steps" runs, each ended by a stale read "~n" if one follows: "0*3,1*7~1,0*2".
  std::string replay() const;

 private:
  std::vector<Event> events_;
};

// A replay string, taken apart: who does each access, and how stale it reads.
class Replay {
 public:
  Replay() = default;
  explicit Replay(const char* text);
  bool given() const { return !steps_.empty(); }
  void begin() { at_ = 0; }

  struct Step {
    uint8_t thread;
    uint8_t stale;
  };
  // The next one to be done; null at the end.
  const Step* peek() const { return at_ < steps_.size() ? &steps_[at_] : nullptr; }
  void next() { ++at_; }

 private:
  std::vector<Step> steps_;
  size_t at_ = 0;
};

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_LOG_H_
