#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts the cache lines that operations write, and compares with writes.txt.

  writes_budget.py BUDGETS PROGRAM...

Each PROGRAM is CONTENDER_writes of bench/.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/bench.d"))
import writes  # noqa: E402


def fits(counted, budget):
    return counted >= float(budget[:-1]) if budget.endswith("+") else counted <= float(budget)


def main(budgets_path, *programs):
    with open(budgets_path) as table:
        rows = list(filter(None, (line.split("#")[0].split() for line in table)))
    counts = {}
    for program in programs:
        contender = os.path.basename(program).removesuffix("_writes")
        operations = dict.fromkeys(row[0] for row in rows if row[2] == contender)
        for key, value in writes.count(os.path.abspath(program), operations).items():
            counts[(*key, contender)] = value
    wrong = checked = 0
    print(f"{'operation':16} {'object':6} {'contender':20} {'shared':>7} {'own':>7}   budget")
    for operation, sharing, contender, *budget in rows:
        checked += 1
        found = counts.get((operation, sharing, contender))
        good = found is not None and all(map(fits, found, budget))
        wrong += not good
        shown = [f"{n:7.2f}" for n in found] if found else ["missing"]
        print(f"{operation:16} {sharing:6} {contender:20} {' '.join(shown):15}   {' '.join(budget)}"
              f"{'' if good else '  WRONG'}")
    return wrong != 0 or checked == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
