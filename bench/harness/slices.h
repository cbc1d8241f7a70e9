// SPDX-License-Identifier: Apache-2.0
//
// How fast threads are while all of them run. Each notes when its slices (a tenth of a millisecond
// of work, or more) begin and end, and whether the scheduler took the processor away meanwhile.
// Only the time counts when nobody's was taken away: so other programs, which halve the throughput
// of two threads now and then, drop out. Waiting for each other doesn't: a thread that
// waits gives its processor up by itself.

#ifndef BENCH_HARNESS_SLICES_H_
#define BENCH_HARNESS_SLICES_H_

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

namespace bench {

class Slices {
  struct Slice {
    double begin, end;  // by one clock
    long turns;
    bool disturbed;
  };

 public:
  explicit Slices(int threads) : of_(threads) {}

  // One thread's.
  class Clock {
   public:
    Clock(Slices& slices, int thread) : noted_(slices.of_[thread]) {
      noted_.clear();
      noted_.reserve(1 << 14);
      begin();
    }
    // After each turn of work.
    void turn() {
      if (++turns_ < per_slice_) return;
      const double end = now();
      if (noted_.size() < noted_.capacity()) {
        noted_.push_back({began_, end, turns_, switches() != switches_});
      }
      if (end - began_ < kEnough) per_slice_ *= 2;
      if (end - began_ > 4 * kEnough && per_slice_ > 1) per_slice_ /= 2;
      begin();
    }

   private:
    static constexpr double kEnough = 1e5;
    static double now() {
      const auto time = std::chrono::steady_clock::now().time_since_epoch();
      return std::chrono::duration<double, std::nano>(time).count();
    }
    static long switches() {
      rusage usage;
      return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
    }
    void begin() {
      turns_ = 0;
      switches_ = switches();
      began_ = now();
    }

    std::vector<Slice>& noted_;
    long turns_ = 0, per_slice_ = 1, switches_ = 0;
    double began_ = 0;
  };

  // Nanoseconds per turn of all threads together, over the time when nobody was disturbed; negative
  // where that is too short to tell. Only when all threads are done.
  double turn() const {
    double begin = 0, end = std::numeric_limits<double>::infinity();
    std::vector<Span> disturbed;
    for (const auto& noted : of_) {
      if (noted.empty()) return -1;
      begin = std::max(begin, noted.front().begin);
      end = std::min(end, noted.back().end);
      for (const Slice& slice : noted) {
        if (slice.disturbed) disturbed.push_back({slice.begin, slice.end});
      }
    }
    std::sort(disturbed.begin(), disturbed.end());
    double time = 0, turns = 0;
    auto count = [&](double until) {
      if (until <= begin) return;
      time += until - begin;
      for (const auto& noted : of_) turns += turns_within(noted, {begin, until});
    };
    for (const Span& span : disturbed) {
      count(std::min(span.first, end));
      begin = std::max(begin, span.second);
    }
    count(end);
    return time >= kShortest && turns > 0 ? time / turns : -1;
  }

 private:
  using Span = std::pair<double, double>;
  static constexpr double kShortest = 2e6;

  // Those of a slice that is only partly within count in proportion.
  static double turns_within(const std::vector<Slice>& noted, Span span) {
    double turns = 0;
    auto at = std::partition_point(noted.begin(), noted.end(),
                                   [&](const Slice& s) { return s.end <= span.first; });
    for (; at != noted.end() && at->begin < span.second; ++at) {
      const double within = std::min(at->end, span.second) - std::max(at->begin, span.first);
      turns += static_cast<double>(at->turns) * within / (at->end - at->begin);
    }
    return turns;
  }

  std::vector<std::vector<Slice>> of_;  // by thread
};

}  // namespace bench

#endif  // BENCH_HARNESS_SLICES_H_
