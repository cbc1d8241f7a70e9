# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Takes times. Each contender has a process of its own in each round."""

import json
import os
import platform
import re
import statistics
import subprocess
import time

TIMEOUT = 300
# CONTENDER/OPERATION[/same|/different]/real_time/threads:N
NAME = re.compile(r"([^/]+)/([^/]+)(?:/(same|different))?/real_time/threads:(\d+)")


class Results:
    """Nanoseconds from all rounds."""

    def __init__(self, rounds):
        self.date, self.machine, self.rounds = time.strftime("%Y-%m-%d"), _machine(), rounds
        self.failures = []  # (contender, what went wrong)
        self._times = {}    # {(operation, contender, sharing, threads): [(whether it was undisturbed, time)]}
        self._alone = {}    # {(operation, contender): [time]}

    def add(self, benchmark):
        """An entry of Google Benchmark's JSON."""
        contender, operation, sharing, threads = NAME.fullmatch(benchmark["name"]).groups()
        if benchmark.get("error_occurred"):
            return
        # The time in undisturbed slices, if there were enough of them; otherwise the time by the clock.
        good = benchmark["undisturbed"] > 0
        value = float(benchmark["undisturbed" if good else "real_time"])
        self._times.setdefault((operation, contender, sharing, int(threads)), []).append((good, value))
        # A single thread waits for no other, so its processor time measures the same, whatever else the machine does.
        if threads == "1":
            self._alone.setdefault((operation, contender), []).append(float(benchmark["cpu_time"]))

    def threads(self):
        """How many threads ran: as many as processors, and four times as many."""
        counts = sorted({key[3] for key in self._times} - {1}) or [2, 8]
        return counts[0], counts[-1]

    def alone(self, operation, contender):
        """The median of one thread alone, or None."""
        values = self._alone.get((operation, contender))
        return values and statistics.median(values)

    def speedup(self, operation, contender, sharing, threads):
        """The throughput of several threads over that of one, or None."""
        one = self._median(operation, contender, None, 1)
        many = self._median(operation, contender, sharing, threads)
        return one and many and one / many

    def _median(self, *key):
        values = self._times.get(key, [])
        return statistics.median([value for good, value in values if good] or [value for _, value in values]) if values else None


def _times(contender):
    done = subprocess.run([contender.path(), *contender.arguments, "--benchmark_format=json", "--benchmark_min_time=0.05"],
                          env=contender.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          timeout=TIMEOUT)
    start = done.stdout.find("{")
    if done.returncode != 0 or start < 0:
        raise RuntimeError(f"exit {done.returncode}")
    return json.loads(done.stdout[start:])["benchmarks"]


def measure(contenders, rounds, progress):
    results = Results(rounds)
    began = time.monotonic()
    for turn in range(rounds):
        # Every second round goes backwards, so that no contender always runs after the same one.
        for contender in contenders if turn % 2 == 0 else reversed(contenders):
            progress(f"[{time.monotonic() - began:.0f}s] round {turn + 1} of {rounds}: {contender.name}")
            try:
                for benchmark in _times(contender):
                    results.add(benchmark)
            except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
                results.failures.append((contender.name, str(error)))
    return results


def _machine():
    model = platform.machine()
    try:
        with open("/proc/cpuinfo") as info:
            model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), model)
    except OSError:
        pass
    release = ".".join(platform.release().split(".")[:2])
    return f"{os.cpu_count()} x {model}, {platform.system()} {release}"
