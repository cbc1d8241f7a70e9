# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tables that tools/bench prints, and the figures in bench/README.md, which are between two marks."""

import os
import re
import subprocess
import sys

import contenders

README = os.path.join(contenders.ROOT, "bench/README.md")
BEGIN = "<!-- tools/bench --readme writes what follows -->\n"
END = "<!-- up to here -->\n"

NAMES = {
    "get_hit": "get, attached",
    "get_first_of_64": "get, oldest of 64",
    "get_last_of_64": "get, newest of 64",
    "get_absent": "get, absent",
    "get_predefined": "get MPI_TAG_UB",
    "borrow": "borrow + give back",
    "set": "set, replacing",
    "set_delete": "set + delete",
    "set_calling": "set, with delete_fn",
    "set_delete_calling": "set + delete, with delete_fn",
    "if_absent": "set if absent, attached",
    "if_absent_delete": "set if absent + delete",
    "create_free": "create + free keyval",
    "dup_free_8": "dup + free, 8 attributes",
}
# The contenders whose instructions are counted, and the headings of their columns.
COUNTED = {"attrcache_inlined": "attrcache inlined", "attrcache_shared": "C API, library",
           "raw_array": "array", "mutex_map": "mutex + map"}
COLUMNS = (("C API", ("attrcache_shared",)), ("mutex + map", ("mutex_map",)),
           *((f"{name} -> served", tuple(f"{mpi}_{how}_{level}" for how in ("native", "served")))
             for level in ("multiple",) for mpi, name in (("openmpi", "Open MPI"), ("mpich", "MPICH"))))
SCALING = (("get, same object", "get_hit", "same"), ("set, an object each", "set", "different"),
           ("set + delete, an object each", "set_delete", "different"))
PEERS = {
    "attrcache_inlined": "attrcache, inlined",
    "attrcache_shared": "attrcache, C API",
    "attrcache_full_fences": "attrcache, full fences",
    "locked_object": "lock in each object",
    "mutex_map": "map + mutex",
    "tbb_concurrent_hash_map": "oneTBB hash map",
    "hazard_pointer": "hazard pointer, exchange",
    "urcu_array": "liburcu memb, array",
    "atomic_shared_ptr": "atomic shared_ptr",
}
# (heading, operation, None for one thread's time or which objects several threads use, the index of the number of threads)
PEER_COLUMNS = (("get", "get_hit", None, 0), ("x{}", "get_hit", "same", 0), ("set", "set", None, 0),
                ("borrow", "borrow", None, 0), ("x{}", "borrow", "same", 0), ("x{}", "borrow", "same", 1),
                ("object", "object_0", None, 0), ("of 4", "object_4", None, 0), ("x{}", "object_4", "different", 0))

# The same for a value that is freed when another has replaced it. In turn: each thread uses and replaces it.
REPLACING = (("use", "use", None, 0), ("x{}", "use", "same", 0), ("replace", "replace", None, 0),
             ("in turn", "use_replace", None, 0), ("x{}", "use_replace", "same", 0))


def _table(head, headings, rows, width):
    yield f"  {head:28}" + "".join(f"{title:>{width}}" for title in headings)
    for name, cells in rows:
        if any(c != "-" for c in cells):
            yield f"  {name:28}" + "".join(f"{cell:>{width}}" for cell in cells)


def _cell(results, operation, contender, sharing=None, threads=1):
    """Nanoseconds on one thread, or the throughput of several over that of one; None if it wasn't measured."""
    if sharing is None:
        alone = results.alone(operation, contender)
        return alone and f"{alone:.1f}"
    speedup = results.speedup(operation, contender, sharing, threads)
    return speedup and f"{speedup:.2f}"


def _beside_mpis(results, head, rows):
    """rows: (name, operation, and the other arguments of _cell after the contender)"""
    def cells(operation, *how):
        for _, names in COLUMNS:
            found = [_cell(results, operation, name, *how) for name in names]
            yield " -> ".join(text or "-" for text in found) if any(found) else "-"
    return _table(head, [title for title, _ in COLUMNS], ((name, list(cells(*what))) for name, *what in rows), 20)


def times(results):
    few, many = results.threads()
    yield "Times; the MPIs under MPI_THREAD_MULTIPLE:\n\n```"
    yield from _beside_mpis(results, "ns, one thread", ((name, operation) for operation, name in NAMES.items()))
    yield ""
    yield from _beside_mpis(results, f"{few} threads over one", ((*row, few) for row in SCALING))
    yield (f"```\n\nComparison: ns per operation on one thread; x{few}, x{many}: speed-up with {few} and {many} threads on one "
           "attribute. borrow: use a\nvalue that others may replace. object: make an object and free it; of 4: with 4 values "
           "attached.\n\n```")
    yield from _peers(results, PEER_COLUMNS)
    yield ("```\n\nA value that is allocated, replaced, and then freed as soon as nobody uses it. in turn: use it, and replace "
           "it.\n\n```")
    yield from _peers(results, REPLACING)
    yield "```"


def _peers(results, columns):
    counts = results.threads()
    rows = ((label, [_cell(results, operation, contender, sharing, counts[at]) or "-"
                     for _, operation, sharing, at in columns]) for contender, label in PEERS.items())
    return _table("ns; threads over one", [title.format(counts[at]) for title, _, _, at in columns], rows, 8)


def _instructions(counts):
    """counts: {(operation, contender): instructions}"""
    yield "Instructions, counted by callgrind, the caller's loop of about 10 included:\n\n```"
    rows = ((name, [counts.get((operation, contender), "-") for contender in COUNTED]) for operation, name in NAMES.items())
    yield from _table("", COUNTED.values(), rows, 18)
    yield "```\n"


def _version(*command):
    """The version that a command says it has."""
    try:
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    except FileNotFoundError:
        return "none"
    found = re.search(r"\d+\.\d+(\.\d+)*\w*", said)
    return found[0] if found else "unknown"


def _where(results):
    """When, where and with which versions the figures were measured."""
    return (f"{results.date}; {results.machine}; g++ {_version('g++', '-dumpfullversion')}; Open MPI "
            f"{_version('mpirun.openmpi', '--version')}, MPICH {_version('mpichversion')}; callgrind of valgrind "
            f"{_version('valgrind', '--version')}; times: medians of {results.rounds} rounds.\n")


def around():
    """README.md's text before the figures, and after them."""
    with open(README) as file:
        before, begin, rest = file.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"tools/bench: {README} hasn't both marks: {BEGIN}{END}")
    return before, after


def write(results, counts):
    before, after = around()
    with open(README, "w") as file:
        file.write("\n".join([before + BEGIN, _where(results), *_instructions(counts), *times(results), "", END]) + after)
