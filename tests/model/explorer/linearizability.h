// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Decides whether a history has a serial order, by the algorithm of Wing and Gong (JPDC 1993), with
// Lowe's memory of configurations that lead nowhere (Concurrency and Computation 2017).
//
// A history is a set of operations and, for each, the operations that must come before it. In a
// model these are the operations that happen before it, in the sense of C++, rather than those that
// the scheduler has run before it: a thread that reads something stale can't know of the latter.
//
// A specification is a value type State and
//   template or overload: bool apply(State&, const Op&)   performs the operation and says whether
//                                                         its recorded outcome is right there
// States are compared by ==.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_LINEARIZABILITY_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_LINEARIZABILITY_H_

#include <cstddef>
#include <cstdint>

#include "tests/model/explorer/explore.h"

namespace attrcache::model {

inline constexpr unsigned kMaxOperations = 16;

template <typename Op>
struct History {
  struct Entry {
    Op op;
    uint32_t after;  // the operations that must come before this one, as bits
  };
  Entry entries[kMaxOperations];
  unsigned count = 0;

  void add(const Op& op, uint32_t after) { entries[count++] = {op, after}; }
};

// A history in which each operation is recorded when it ends.
template <typename Op>
struct TimedHistory : History<Op> {
  Moment ends[kMaxOperations];

  // It comes after those whose ends happen before its begin.
  void add(const Op& op, const Moment& begin) {
    uint32_t after = 0;
    for (unsigned i = 0; i < this->count; ++i) {
      if (happens_before(ends[i], begin)) after |= 1u << i;
    }
    ends[this->count] = now();
    History<Op>::add(op, after);
  }
};

template <typename State, typename Op>
class Linearizer {
 public:
  using Apply = bool (*)(State& state, const Op& op);

  Linearizer(const History<Op>& history, Apply apply)
      : history_(history), apply_(apply), all_((1u << history.count) - 1) {}

  // Whether some serial order that starts in `initial`, and ends in a state that `final` (if given)
  // accepts, explains every outcome.
  template <typename Final>
  bool exists(const State& initial, Final accepts) {
    dead_count_ = 0;
    return search(0, initial, accepts);
  }
  bool exists(const State& initial) {
    return exists(initial, [](const State&) { return true; });
  }

 private:
  struct Configuration {
    uint32_t done;
    State state;
  };
  static constexpr size_t kDead = 256;  // the most that are remembered; more would be slower

  template <typename Final>
  bool search(uint32_t done, const State& state, Final& accepts) {
    if (done == all_) return accepts(state);
    for (size_t i = 0; i < dead_count_; ++i) {
      if (dead_[i].done == done && dead_[i].state == state) return false;
    }
    for (unsigned i = 0; i < history_.count; ++i) {
      const auto& entry = history_.entries[i];
      if ((done & 1u << i) != 0 || (entry.after & ~done) != 0) continue;
      State next = state;
      if (apply_(next, entry.op) && search(done | 1u << i, next, accepts)) return true;
    }
    if (dead_count_ < kDead) dead_[dead_count_++] = {done, state};
    return false;
  }

  const History<Op>& history_;
  const Apply apply_;
  const uint32_t all_;
  size_t dead_count_ = 0;
  Configuration dead_[kDead];
};

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_LINEARIZABILITY_H_
