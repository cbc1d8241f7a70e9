# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What attrcache's operations cost where a number falls: keyvals, attributes, borrows, stripes (bench/costs.cc).

Beside each figure stands the one of an earlier commit, which bench/results/costs.before.txt has: counted with the
same program on the library of that commit.
"""

import os
import subprocess

import contenders
import instructions

PROGRAM = "attrcache_costs"
BEFORE = os.path.join(contenders.ROOT, "bench/results/costs.before.txt")

# (what, what x is, [(x, row)]). A keyval's x is how many there are up to it, so that it has a logarithm.
_INDICES = ((1, "0"), (64, "63"), (65, "64"), (1001, "1000"), (100001, "100000"))


def _over_keyvals(row, indices=_INDICES, among=""):
    return [(x, f"{row}_{index}{among}") for x, index in indices]


_FAR = ((1, "0"), (64, "63"), (65, "64"), (100001, "100000"))
_DELETED = ((3, "2"), (64, "63"), (65, "64"), (100000, "99999"))
CURVES = [
    ("get", "keyvals", _over_keyvals("get")),
    ("get, on an object with attributes at both ends", "keyvals", _over_keyvals("get", among="_among")),
    ("get, nothing attached there", "keyvals",
     _over_keyvals("get_absent", ((2, "1"), (63, "62"), (66, "65"), (1002, "1001"), (100002, "100001")),
                   "_among")),
    ("set, replacing", "keyvals", _over_keyvals("set", _FAR)),
    ("set and delete", "keyvals", _over_keyvals("set_delete", _DELETED)),
    ("dup and free, each attribute", "attributes",
     [(n, f"dup_free_{n}") for n in (1, 3, 8, 9, 64, 65, 1000)]),
    ("dup and free by callbacks, each attribute", "attributes",
     [(n, f"dup_free_calling_{n}") for n in (8, 64, 1000)]),
    ("borrow and give back, each of so many held at once", "borrows",
     [(n, f"borrow_{n}") for n in (1, 100, 1000)]),
    ("create and free a keyval", "stripes", [(n, f"create_free_{n}") for n in (2, 64)]),
    ("create a keyval, set and delete once, and free it", "stripes",
     [(n, f"create_use_free_{n}") for n in (2, 64)]),
]


def count(progress=lambda text: None):
    """{row: instructions, or bytes}"""
    progress(f"counting {PROGRAM}")
    program = contenders.built(f"bench/{PROGRAM}")
    counts = {row: n for (row, _), n in instructions.count(program).items()}
    printed = subprocess.run([program, "--bytes"], check=True, text=True, stdout=subprocess.PIPE).stdout
    counts.update((line.split()[0], int(line.split()[2])) for line in printed.splitlines())
    return counts


def before():
    """(what they are of, {row: the same before})"""
    with open(BEFORE) as file:
        lines = file.read().splitlines()
    figures = [line.split() for line in lines if line and not line.startswith("#")]
    return lines[0].lstrip("# "), {row: int(n) for row, n in figures}


def lines(counts):
    """The table, row by row in the order of bench/costs.cc's names."""
    what, old = before()
    yield f"{'where a number falls':28} {'before':>7} {'now':>7}    before: {what}"
    for row, n in counts.items():
        yield f"{row:28} {old.get(row, '-'):>7} {n:>7}"


def curves(counts):
    """(title, x label, points now, points before) of each plot."""
    _, old = before()
    for title, x_label, points in CURVES:
        yield (title, x_label, [(x, counts[row]) for x, row in points if row in counts],
               [(x, old[row]) for x, row in points if row in old])
