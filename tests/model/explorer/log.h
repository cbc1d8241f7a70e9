// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What happened in an execution: as text for the reader of a failure, and as a string
// that replays the execution.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_LOG_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/model/explorer/types.h"

namespace attrcache::model {

const char* name_of(Kind kind);
const char* name_of(std::memory_order order);
const char* without_folder(const char* path);

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

  // The text: one line for each event, without accesses to locations that aren't contended.
  std::string text() const;

  // The replay string. It lists runs, as in "0*3,1*7~1,0*2": which thread ran and for how many
  // steps. "~n" follows a run if its last step was a load that did not read the n newest stores.
  std::string replay() const;

 private:
  std::vector<Event> events_;
};

// A replay string that was parsed: which thread does each access, and how stale a load reads.
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
  // The next step to be done; null at the end.
  const Step* peek() const { return at_ < steps_.size() ? &steps_[at_] : nullptr; }
  void next() { ++at_; }

 private:
  std::vector<Step> steps_;
  size_t at_ = 0;
};

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_LOG_H_
