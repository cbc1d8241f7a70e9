// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How fast threads are while all of them run. Each thread cuts its work into slices of at least a
// tenth of a millisecond. It notes when a slice begins and ends, and whether the scheduler took its
// processor away in between. Only those times count in which no thread lost its processor. So other
// programs on the machine don't spoil the result, which otherwise halve the throughput of two
// threads now and then. Time in which threads wait for each other still counts, because a thread
// that waits gives up its processor voluntarily, which the kernel counts separately.

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
    double begin, end;  // nanoseconds, by the same clock for all threads
    long turns;
    bool disturbed;
  };

 public:
  explicit Slices(int threads) : of_(threads) {}

  // What one thread measures its slices with.
  class Clock {
   public:
    Clock(Slices& slices, int thread) : noted_(slices.of_[thread]) {
      noted_.clear();
      noted_.reserve(1 << 14);
      begin();
    }
    // To be called after each turn of work.
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

  // Nanoseconds per turn of all threads together, in the time when no thread was disturbed.
  // Negative if that time is too short for a result. To be called when all threads are done.
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

  // The turns within a span of time. Of a slice that is partly within, a proportional part counts.
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

  std::vector<std::vector<Slice>> of_;  // the slices of each thread
};

}  // namespace bench

#endif  // BENCH_HARNESS_SLICES_H_
