# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Takes times. Each contender has a process of its own in each round."""

import json
import os
import platform
import subprocess
import time


# --quick measures only these.
QUICK = ("/(get_hit|get_last_of_64|get_absent|borrow|set|set_delete|create_free|object_[04])/real_time|"
         "/(get_hit/same|set/different|object_[04]/different)/real_time/threads:2$|/borrow/same/real_time")
TIMEOUT = 300


class Results:
    """Everything that was measured."""

    def __init__(self, context):
        self.context = context
        self.contenders = []   # their names, in the order of measuring
        self.benchmarks = []   # the entries of Google Benchmark's JSON, from all rounds
        self.failures = []     # (contender, what went wrong)


def _times(contender, quick, min_time):
    arguments = ["--benchmark_format=json", f"--benchmark_min_time={min_time}"]
    if quick:
        arguments.append(f"--benchmark_filter={QUICK}")
    done = subprocess.run([contender.path(), *contender.arguments, *arguments],
                          env=contender.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          timeout=TIMEOUT)
    start = done.stdout.find("{")
    if done.returncode != 0 or start < 0:
        raise RuntimeError(f"exit {done.returncode}")
    return json.loads(done.stdout[start:])


def measure(contenders, rounds, quick, progress):
    min_time = 0.02 if quick else 0.05
    results = Results({"date": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "machine": _machine(),
                       "rounds": rounds, "caches": []})
    results.contenders = [c.name for c in contenders]
    began = time.monotonic()
    steps, step = len(contenders) * rounds, 0
    for turn in range(rounds):
        # Every second round goes backwards, so that no contender always runs after the same one.
        for contender in contenders if turn % 2 == 0 else reversed(contenders):
            step += 1
            progress(f"[{step}/{steps}, {time.monotonic() - began:.0f}s] round {turn + 1} of {rounds}: {contender.name}")
            try:
                taken = _times(contender, quick, min_time)
            except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
                results.failures.append((contender.name, str(error)))
                continue
            for key, value in taken["context"].items():
                results.context.setdefault(key, value)
            for benchmark in taken["benchmarks"]:
                benchmark["repetition_index"] = turn
                benchmark["repetitions"] = rounds
                results.benchmarks.append(benchmark)
    return results


def _machine():
    model = platform.machine()
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
    except OSError:
        pass
    release = ".".join(platform.release().split(".")[:2])
    return f"{os.cpu_count()} x {model}, {platform.system()} {release}"
