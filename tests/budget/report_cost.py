#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What counting costs a get: instructions with the interposer that reports, and with the ordinary one.

  report_cost.py PROGRAM[,ARGUMENT...]@ORDINARY PROGRAM[,ARGUMENT...]@REPORTING

The second is counted twice: with ATTRCACHE_REPORT set, and without. Only gets of the first 64 keyvals of a kind are
meant to be that cheap; the others are printed.
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import budget  # noqa: E402

MOST = 2
GETS = ["get_hit", "get_first_of_64", "get_last_of_64", "get_absent"]


def gets(spec):
    counts = {operation: n for (operation, _), n in budget.count(spec).items()}
    missing = [operation for operation in GETS if operation not in counts]
    if missing:
        sys.exit(f"{spec}: {missing} not counted")
    return counts


def main(ordinary, reporting):
    without = gets(ordinary)
    silent = gets(reporting)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATTRCACHE_REPORT"] = os.path.join(folder, "report")
        watched = gets(reporting)
        with open(os.environ["ATTRCACHE_REPORT"]) as report:
            if "keyvals" not in report.read():
                sys.exit("there is no report")
    over = 0
    for operation in sorted(without):
        more = max(watched[operation], silent[operation]) - without[operation]
        verdict = f"  MORE THAN {MOST}" if operation in GETS and more > MOST else ""
        over += verdict != ""
        print(f"{operation:16} {without[operation]:6} {silent[operation]:6} {watched[operation]:6}"
              f"{verdict}")
    return over != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
