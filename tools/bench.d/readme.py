# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Updates the figures in README.md, which are between two marks, and the plot that it shows."""

import os
import sys

import contenders
import overview

sys.path.insert(0, os.path.join(contenders.ROOT, "tools/demo.d"))
import hot_path  # noqa: E402

README = os.path.join(contenders.ROOT, "README.md")
FOLDER = "bench/results"
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


def _table(head, rows):
    yield f"  {head:30}" + "".join(f"{title:>20}" for title, _ in COLUMNS)
    for name, cells in rows:
        if any(c != "-" for c in cells):
            yield f"  {name:30}" + "".join(f"{cell:>20}" for cell in cells)


def _cells(value):
    """The cells of a row. value(contender) returns a text, or None if nothing was measured."""
    for _, names in COLUMNS:
        found = [value(name) for name in names]
        yield " -> ".join(text or "-" for text in found) if any(found) else "-"


def _ns(series, operation):
    def text(contender):
        time = series.latency(operation, contender)
        return time and f"{time.median:.1f}"
    return text


def _ratio(series, operation, sharing, threads):
    def text(contender):
        found = dict(series.scaling(operation, contender, sharing)).get(threads)
        return found and f"{found:.2f}"
    return text


def block(results, series, counts):
    threads = next((t for t in series.thread_counts() if t > 1), 2)
    yield f"![What a get costs]({FOLDER}/get.svg)\n"
    yield "Instructions, counted by callgrind, the caller's loop of about 10 included:\n"
    yield "```\n" + "\n".join(hot_path.embedded(counts)) + "\n```\n"
    yield (f"Times, {overview.caption(results)} (all of it: [{FOLDER}/bench.txt]({FOLDER}/bench.txt)); the MPIs "
           "under MPI_THREAD_MULTIPLE:\n")
    yield "```"
    yield from _table("ns per operation, one thread", (
        (hot_path.NAMES[o], list(_cells(_ns(series, o)))) for o in TIMES))
    yield ""
    yield from _table(f"throughput, {threads} threads over one", (
        (name, list(_cells(_ratio(series, operation, sharing, threads))))
        for name, operation, sharing in SCALING))
    yield "```"


def around():
    """What README.md has before the figures, and after them. The end's mark may stand elsewhere, too."""
    with open(README) as file:
        before, begin, rest = file.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"tools/bench: README.md hasn't both marks: {BEGIN}{END}")
    return before, after


def write(results, series, table, counts, progress):
    """counts: {(operation, contender): instructions}"""
    plot = overview.svg(results, series)
    if plot is None:
        sys.exit("tools/bench: get wasn't measured on one thread and on several: nothing to plot")
    by_operation = {}
    for (operation, contender), number in counts.items():
        by_operation.setdefault(operation, {})[contender] = number
    text = "\n".join(block(results, series, by_operation)) + "\n"
    before, after = around()
    folder = os.path.join(contenders.ROOT, FOLDER)
    os.makedirs(folder, exist_ok=True)
    for path, content in ((os.path.join(folder, "get.svg"), plot),
                          (os.path.join(folder, "bench.txt"), table),
                          (README, before + BEGIN + "\n" + text + "\n" + END + after)):
        with open(path, "w") as file:
            file.write(content)
        progress(f"wrote {path}")
