# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Renews the figures in bench/README.md, which are between two marks."""

import os
import re
import subprocess
import sys

import contenders

sys.path.insert(0, os.path.join(contenders.ROOT, "tools/demo.d"))
import hot_path  # noqa: E402

README = os.path.join(contenders.ROOT, "bench/README.md")
BEGIN = "<!-- tools/bench --readme writes what follows -->\n"
END = "<!-- up to here -->\n"

COLUMNS = (("C API", ("attrcache_shared",)), ("mutex + map", ("mutex_map",)),
           ("Open MPI -> served", ("openmpi_native_multiple", "openmpi_served_multiple")),
           ("MPICH -> served", ("mpich_native_multiple", "mpich_served_multiple")))
TIMES = ("get_hit", "get_last_of_64", "get_absent", "get_predefined", "borrow", "set", "set_delete",
         "create_free")
SCALING = (("get, same object", "get_hit", "same"), ("set, an object each", "set", "different"),
           ("set + delete, an object each", "set_delete", "different"))
# The contenders whose instructions are counted.
COUNTED = ("attrcache_inlined", "attrcache_shared", "raw_array_shared", "mutex_map")


PEERS = {
    "attrcache_inlined": "attrcache, inlined",
    "attrcache_shared": "attrcache, C API",
    "mutex_map": "map + mutex",
    "tbb_concurrent_hash_map": "oneTBB hash map",
    "urcu_qsbr_lfht": "liburcu hash table",
    "glib_qdata": "GLib qdata",
    "openssl_ex_data": "OpenSSL ex_data",
    "hazard_pointer": "hazard pointer, exchange",
    "xenium_hazard_pointer": "xenium hazard pointer",
    "urcu_memb_array": "liburcu memb, array",
    "urcu_qsbr_array": "liburcu qsbr, array",
    "ck_epoch": "Concurrency Kit epoch",
    "shared_mutex": "shared mutex",
    "atomic_shared_ptr": "atomic shared_ptr",
}
# (heading, operation, how several threads do it or None for the time of one, the index of how many they are)
PEER_COLUMNS = (("get", "get_hit", None, 0), ("x{}", "get_hit", "same", 0), ("set", "set", None, 0),
                ("borrow", "borrow", None, 0), ("x{}", "borrow", "same", 0), ("x{}", "borrow", "same", 1),
                ("object", "object_0", None, 0), ("of 4", "object_4", None, 0), ("x{}", "object_4", "different", 0))


def _table(head, headings, rows, width):
    yield f"  {head:26}" + "".join(f"{title:>{width}}" for title in headings)
    for name, cells in rows:
        if any(c != "-" for c in cells):
            yield f"  {name:26}" + "".join(f"{cell:>{width}}" for cell in cells)


def _cell(series, operation, contender, sharing=None, threads=1):
    """Nanoseconds on one thread, or the throughput of several over that of one; None if it wasn't measured."""
    if sharing is None:
        time = series.latency(operation, contender)
        return time and f"{time.median:.1f}"
    found = dict(series.scaling(operation, contender, sharing)).get(threads)
    return found and f"{found:.2f}"


def _beside_mpis(series, head, rows):
    """rows: (name, operation and what else _cell takes after the contender)"""
    def cells(operation, *how):
        for _, names in COLUMNS:
            found = [_cell(series, operation, name, *how) for name in names]
            yield " -> ".join(text or "-" for text in found) if any(found) else "-"
    return _table(head, [title for title, _ in COLUMNS], ((name, list(cells(*what))) for name, *what in rows), 20)


def _peers(series, counts):
    headings = [title.format(counts[at]) for title, _, _, at in PEER_COLUMNS]
    rows = ((label, [_cell(series, operation, contender, sharing, counts[at]) or "-"
                     for _, operation, sharing, at in PEER_COLUMNS]) for contender, label in PEERS.items())
    return _table("ns; threads over one", headings, rows, 8)


def _version(*command):
    """The version that a command says it has."""
    try:
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    except FileNotFoundError:
        return "none"
    found = re.search(r"\d+\.\d+(\.\d+)*\w*", said)
    return found[0] if found else "unknown"


def _where(context):
    """What was measured where, and with what."""
    return (f"{context['date'][:10]}; {context['machine']}; g++ {_version('g++', '-dumpfullversion')}; Open MPI "
            f"{_version('mpirun.openmpi', '--version')}, MPICH {_version('mpichversion')}; callgrind of valgrind "
            f"{_version('valgrind', '--version')}; times: medians of {context['rounds']} rounds.\n")


def block(results, series, counts):
    yield _where(results.context)
    threads = [t for t in series.thread_counts() if t > 1] or [2, 8]
    yield "Instructions, counted by callgrind, the caller's loop of about 10 included:\n"
    yield "```\n" + "\n".join(hot_path.embedded(counts)) + "\n```\n"
    yield "Times; the MPIs under MPI_THREAD_MULTIPLE:\n"
    yield "```"
    yield from _beside_mpis(series, "ns, one thread", ((hot_path.NAMES[o], o) for o in TIMES))
    yield ""
    yield from _beside_mpis(series, f"{threads[0]} threads over one",
                            ((name, operation, sharing, threads[0]) for name, operation, sharing in SCALING))
    yield "```\n"
    yield (f"Comparison: ns per operation on one thread; x{threads[0]}, x{threads[-1]}: speed-up with {threads[0]} and "
           f"{threads[-1]} threads on one attribute. borrow: use a\nvalue that others may replace. object: make an object "
           "and free it; of 4: with 4 values attached.\n")
    yield "```"
    yield from _peers(series, (threads[0], threads[-1]))
    yield "```"


def around():
    """What README.md has before the figures, and after them."""
    with open(README) as file:
        before, begin, rest = file.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"tools/bench: {README} hasn't both marks: {BEGIN}{END}")
    return before, after


def write(results, series, counts, progress):
    """counts: {(operation, contender): instructions}"""
    by_operation = {}
    for (operation, contender), number in counts.items():
        by_operation.setdefault(operation, {})[contender] = number
    text = "\n".join(block(results, series, by_operation)) + "\n"
    before, after = around()
    with open(README, "w") as file:
        file.write(before + BEGIN + "\n" + text + "\n" + END + after)
    progress(f"wrote {README}")
