# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts instructions per operation: runs a program under callgrind and reads its dumps.

The program dumps twice for each operation (CALLGRIND_DUMP_STATS_AT "LABEL TIMES", zeroed before): for a number of turns
and for a larger one. The difference is the cost of the operations, without the program's start and end.
"""

import os
import re
import subprocess
import tempfile


class CountError(Exception):
    pass


def count(command, env=None, timeout=1200, idle="--collect-atstart=no"):
    """{words of the label: instructions per operation}, in the order of the program.

    idle keeps callgrind from counting until the program asks it to: by CALLGRIND_TOGGLE_COLLECT, or with
    "--instr-atstart=no" by CALLGRIND_START_INSTRUMENTATION.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", idle, f"--callgrind-out-file={folder}/dump", *command]
        done = subprocess.run(command, env=env, timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace")
        if done.returncode != 0 or "FAILED" in done.stdout:
            raise CountError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-2000:]}")
        totals = {}
        for name in sorted(os.listdir(folder), key=lambda name: int("0" + name.partition(".")[2])):
            with open(os.path.join(folder, name), errors="replace") as dump:
                text = dump.read()
            label = re.search(r"^desc: Trigger: Client Request: (.+) (\d+)$", text, re.M)
            if label:
                total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
                totals.setdefault(tuple(label[1].split()), []).append((int(label[2]), int(total[1])))
    counts = {}
    for label, dumps in totals.items():
        (few, first), (many, second) = sorted(dumps)
        counts[label] = round((second - first) / (many - few))
    return counts


def count_all(contenders, progress):
    """{(operation, contender): instructions} of tools/bench's contenders."""
    counts = {}
    for at, contender in enumerate(contenders, 1):
        progress(f"[{at}/{len(contenders)}] counting {contender.name}")
        counts.update(count([contender.path("_count"), *contender.arguments], contender.environment()))
    return counts


def lines(counts):
    """LABEL INSTRUCTIONS for each operation, those with the same first word together."""
    for first in dict.fromkeys(label[0] for label in counts):
        yield from (f"{' '.join(label)} {n}" for label, n in counts.items() if label[0] == first)
