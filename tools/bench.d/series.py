# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sorts the results: medians by operation, contender and dimension."""

import re
import statistics


class Time:
    """The times of several rounds, in nanoseconds."""

    def __init__(self, rounds):
        self.median = statistics.median(rounds)
        self.low, self.high = min(rounds), max(rounds)

    @property
    def spread(self):
        """Half of the range, as a fraction of the median."""
        return (self.high - self.low) / 2 / self.median if self.median else 0.0


# CONTENDER/OPERATION[/same|/different][/DIMENSION:N]/real_time/threads:N
NAME = re.compile(r"^([^/]+)/([^/]+)(?:/(same|different))?(?:/(keyvals|attributes|objects):(\d+))?"
                  r"/real_time/threads:(\d+)$")


class Series:
    def __init__(self, results):
        rounds, alone = {}, {}
        for benchmark in results.benchmarks:
            parts = NAME.match(benchmark["name"])
            if parts is None or benchmark.get("error_occurred"):
                continue
            contender, operation, sharing, dimension, size, threads = parts.groups()
            key = (operation, contender, int(threads), sharing, dimension, int(size or 0))
            # The time in undisturbed slices, if there were enough of them; otherwise the time by the clock.
            undisturbed = "undisturbed" in benchmark
            time = float(benchmark["undisturbed" if undisturbed else "real_time"])
            rounds.setdefault(key, []).append((undisturbed, time))
            # Of a single thread, which waits for nobody, processor time measures the same, and other programs don't
            # disturb it.
            if int(threads) == 1:
                alone.setdefault(key, []).append(float(benchmark["cpu_time"]))
        self.times = {key: Time([t for good, t in values if good] or [t for _, t in values])
                      for key, values in rounds.items()}
        self.latencies = {**self.times, **{key: Time(values) for key, values in alone.items()}}
        self.contenders = [c for c in results.contenders if any(k[1] == c for k in self.times)]

    def operations(self):
        return list(dict.fromkeys(key[0] for key in self.times))

    def latency(self, operation, contender):
        """The time of one thread alone, as a Time."""
        return self.latencies.get((operation, contender, 1, None, None, 0))

    def time(self, operation, contender, threads=1, sharing=None):
        """The time per operation of all threads together, by the clock, as a Time."""
        return self.times.get((operation, contender, threads, sharing, None, 0))

    def thread_counts(self):
        return sorted({key[2] for key in self.times})

    def scaling(self, operation, contender, sharing):
        """[(threads, throughput over that of one thread)]"""
        one = self.time(operation, contender)
        points = [(1, 1.0)] if one else []
        for threads in self.thread_counts():
            many = self.time(operation, contender, threads, sharing)
            if one and many:
                points.append((threads, one.median / many.median))
        return points

    def over(self, dimension, operation, contender):
        """[(size, nanoseconds)]"""
        return sorted((key[5], time.median) for key, time in self.latencies.items()
                      if key[:2] == (operation, contender) and key[4] == dimension)
