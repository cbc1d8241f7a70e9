#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts what a report adds to a constructor while 1, 100 and 10,000 objects are alive: it must be the same.

  constructors.py PROGRAM
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import budget  # noqa: E402

# Hash tables of different sizes have chains of different lengths.
MOST = 1.05


def main(program):
    counts = {int(alive): n for (alive,), n in budget.count(program).items()}
    for alive, n in counts.items():
        print(f"{alive:6} alive: {n:6} instructions")
    return sorted(counts) != [1, 100, 10_000] or max(counts.values()) > MOST * min(counts.values())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
