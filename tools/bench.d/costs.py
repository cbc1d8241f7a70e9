# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What attrcache's operations cost where a number falls: keyvals, attributes, borrows, stripes (bench/costs.cc)."""

import subprocess

import contenders
import instructions

PROGRAM = "attrcache_costs"


def count(progress=lambda text: None):
    """{row: instructions, or bytes}"""
    progress(f"counting {PROGRAM}")
    program = contenders.built(f"bench/{PROGRAM}")
    counts = {row: n for (row, _), n in instructions.count([program]).items()}
    printed = subprocess.run([program, "--bytes"], check=True, text=True, stdout=subprocess.PIPE).stdout
    counts.update((line.split()[0], int(line.split()[2])) for line in printed.splitlines())
    return counts


def lines(counts):
    """The table, row by row in the order of bench/costs.cc's names."""
    yield "where a number falls"
    for row, n in counts.items():
        yield f"{row:28} {n:>7}"
