# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts instructions: runs a *_count program of bench/ under callgrind and reads its dumps."""

import os
import re
import subprocess
import tempfile


class CountError(Exception):
    pass


def count(program, operations=(), arguments=(), launcher=(), env=None, timeout=600):
    """Runs PROGRAM; returns {(operation, contender): instructions per operation}.

    The program dumps twice per operation: for a number of turns, and for twice as many. The difference of the two
    is the cost of the operations, without start and end.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [*launcher, "valgrind", "--tool=callgrind", "--collect-atstart=no",
                   f"--callgrind-out-file={folder}/dump", program, *arguments, *operations]
        done = subprocess.run(command, env=env, timeout=timeout, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0 or "FAILED" in done.stdout:
            raise CountError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-2000:]}")
        return _differences(os.path.join(folder, name) for name in os.listdir(folder))


def _differences(dumps):
    seen = {}
    for path in dumps:
        with open(path, errors="replace") as dump:
            text = dump.read()
        label = re.search(r"^desc: Trigger: Client Request: (\S+) (\S+) (\d+)$", text, re.M)
        if label:
            total = int(re.search(r"^totals: (\d+)", text, re.M).group(1))
            operation, contender, times = label.groups()
            seen.setdefault((operation, contender), {})[int(times)] = total
    counts = {}
    for key, totals in sorted(seen.items()):
        few, many = sorted(totals)
        counts[key] = round((totals[many] - totals[few]) / (many - few))
    return counts
