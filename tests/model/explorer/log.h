// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What happened in an execution, as text for the reader of a failure.

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

// An access of a contended location, a wait, or a note.
struct Event {
  Access access;  // of kind kNote: file is the text, line the number beside it
  Bits value;     // read, or written
  uint8_t thread;
  uint8_t stale;  // how many newer stores a load didn't read
  bool failed;  // a compare-and-swap that did not swap
};

class Log {
 public:
  Log() { events_.reserve(4096); }
  void begin() { events_.clear(); }
  void add(const Event& event) { events_.push_back(event); }

  std::string text() const;

 private:
  std::vector<Event> events_;
};

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_LOG_H_
