#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What counting costs a get: instructions with ATTRCACHE_REPORT, and without.

  report_cost.py PROGRAM[,ARGUMENT...]@INTERPOSER

Counting switches the fast path of gets off, so an uncounted get pays nothing, which budgets.txt checks.
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import budget  # noqa: E402

# The most that counting may add to a get under one of the first keyvals.
MOST = 135
GETS = ["get_hit", "get_first_of_64", "get_last_of_64", "get_absent"]


def gets(spec):
    counts = {operation: n for (operation, _), n in budget.count(spec, GETS).items()}
    missing = [operation for operation in GETS if operation not in counts]
    if missing:
        sys.exit(f"{spec}: {missing} not counted")
    return counts


def main(spec):
    without = gets(spec)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATTRCACHE_REPORT"] = folder
        watched = gets(spec)
        if not os.listdir(folder):
            sys.exit("no report was written")
    over = 0
    for operation in sorted(without):
        more = watched[operation] - without[operation]
        verdict = f"  MORE THAN {MOST}" if more > MOST else ""
        over += verdict != ""
        print(f"{operation:16} {without[operation]:6} {watched[operation]:6}{verdict}")
    return over != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
