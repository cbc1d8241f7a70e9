#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts instructions and compares them with budgets.txt.

  budget.py BUDGETS PROGRAM[,ARGUMENT...][@PRELOADED]...

Each PROGRAM is a *_count program of bench/, or attrcache_costs. Only the budgets of contenders that are counted are
checked. With PRELOADED, gets are counted once more under the name CONTENDER_reported, while a report counts them, too.
"""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/bench.d"))
import instructions  # noqa: E402


def read_budgets(path):
    budgets = {}
    with open(path) as table:
        for line in table:
            words = line.split("#")[0].split()
            if words:
                operation, contender, most = words
                budgets[operation, contender] = int(most)
    return budgets


def count(spec, operations=()):
    """{(operation, contender): count}, of all operations or of those given."""
    command, _, preloaded = spec.partition("@")
    program, *arguments = command.split(",")
    env = {"HOME": "/tmp", **os.environ}  # Open MPI 5 and 6 don't start without it
    if preloaded:
        env["LD_PRELOAD"] = os.path.abspath(preloaded)
    return instructions.count([os.path.abspath(program), *arguments, *operations], env)


def count_reported(spec):
    """Counting switches the fast path of gets off."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATTRCACHE_REPORT"] = folder
        counts = count(spec, ["get_hit", "get_first_of_64", "get_last_of_64", "get_absent"])
        del os.environ["ATTRCACHE_REPORT"]
        if not os.listdir(folder):
            sys.exit("no report was written")
    return {(operation, contender + "_reported"): n for (operation, contender), n in counts.items()}


def main(budgets_path, *specs):
    budgets = read_budgets(budgets_path)
    counts = {}
    for spec in specs:
        counts.update(count(spec))
        if "@" in spec:
            counts.update(count_reported(spec))
    counts = {(operation, re.sub("^(openmpi|mpich)_", "", contender)): n for (operation, contender), n in counts.items()}
    for operation, contender in counts:
        if operation.endswith("_among"):
            budgets.setdefault((operation, contender), budgets[operation.removesuffix("_among"), contender])
    contenders = {contender for _, contender in counts}
    over = 0
    print(f"{'operation':24} {'contender':31} {'counted':>8} {'budget':>8}")
    for (operation, contender), most in budgets.items():
        if contender not in contenders:
            continue
        counted = counts.get((operation, contender))
        verdict = "" if counted is not None and counted <= most else "  OVER"
        over += verdict != ""
        print(f"{operation:24} {contender:31} {counted or 'missing':>8} {most:8}{verdict}")
    checked = {contender for _, contender in budgets} & contenders
    if len(checked) < len(specs):
        print(f"of {len(specs)} programs only {sorted(checked)} have budgets")
        over += 1
    return over != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
