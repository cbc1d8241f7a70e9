# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What attrcache's operations cost where a number falls: keyvals, attributes, borrows, stripes (bench/costs.cc)."""

import subprocess

import contenders
import instructions

PROGRAM = "attrcache_costs"

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
    counts = {row: n for (row, _), n in instructions.count([program]).items()}
    printed = subprocess.run([program, "--bytes"], check=True, text=True, stdout=subprocess.PIPE).stdout
    counts.update((line.split()[0], int(line.split()[2])) for line in printed.splitlines())
    return counts


def lines(counts):
    """The table, row by row in the order of bench/costs.cc's names."""
    yield "where a number falls"
    for row, n in counts.items():
        yield f"{row:28} {n:>7}"


def curves(counts):
    """(title, x label, points) of each plot."""
    for title, x_label, points in CURVES:
        yield title, x_label, [(x, counts[row]) for x, row in points if row in counts]
