// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The depth-first search over executions. An execution asks questions, and the answers determine
// it. The next execution gives the same answers up to the last question that has an untried one,
// gets the next answer there, and first answers after that.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_CHOICES_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_CHOICES_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace attrcache::model {

class Choices {
 public:
  // Forgets everything, so that the next execution is the first one.
  void clear() {
    made_.clear();
    at_ = 0;
  }

  // Answers a question that has `count` answers, at least 2.
  unsigned choose(unsigned count) {
    if (at_ == made_.size()) made_.push_back({0, static_cast<uint8_t>(count)});
    if (made_[at_].count != count) {
      std::fprintf(stderr, "model: the program does not depend on its choices alone\n");
      std::abort();
    }
    return made_[at_++].chosen;
  }

  // Moves to the next execution; false if there is none. If the last execution was given up,
  // questions that it would have asked later are not tried.
  bool advance() {
    made_.resize(at_);
    at_ = 0;
    while (!made_.empty()) {
      if (++made_.back().chosen < made_.back().count) return true;
      made_.pop_back();
    }
    return false;
  }

 private:
  struct Choice {
    uint8_t chosen;
    uint8_t count;
  };
  std::vector<Choice> made_;
  size_t at_ = 0;
};

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_CHOICES_H_
