# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The table of several MPIs, from what --json wrote."""

import re

import suite


def short_name(run):
    """The usual name of that MPI, such as "MPICH 4.0.2"."""
    found = re.match(r"([A-Za-z ]*?)(?: Version)?:? v?(\d[\w.]*)", run["mpi"])
    name = "%s %s" % (found.group(1).strip(), found.group(2)) if found else run["mpi"][:40]
    return name + (", standard ABI" if run["standard_abi"] else "")


def grouped(names):
    """Names of checks, without the kind of object and the Fortran interface where several differ in that alone."""
    ends = "|".join(list(suite.KINDS) + list(suite.FACES))
    stems = {}
    for name in names:
        stems.setdefault(re.sub(r"(-(?:%s))+$" % ends, "", name), []).append(name)
    return ["`%s`%s" % ((stem, " (%d)" % len(all_of)) if len(all_of) > 1 else (all_of[0], ""))
            for stem, all_of in stems.items()]


def row(run):
    """The cells of a run's row."""
    failing = [r["check"] for r in run["results"] if r["kind"] == "demanded" and r["result"] == "fail"]
    return [short_name(run), run["called"], fails(run["counts"]["demanded"]), fails(run["counts"]["implied"]),
            ", ".join(grouped(failing)) or "nothing", run["date"]]


def order(cells):
    """How rows are sorted: the standard ABI last; of one MPI, native, served, others."""
    mpi, called = cells[:2]
    return "standard ABI" in mpi, mpi, called != "native", called != "served", called


HEAD = "| MPI | | demanded: fails | implied: fails | demanded checks that fail | date |\n|---|---|---|---|---|---|\n"


def renewed(table, runs):
    """A table in Markdown with the rows of the runs, in the place of older ones of the same MPIs and ways."""
    rows = {tuple(cells[:2]): cells for cells in (
        line.strip("| ").split(" | ") for line in table.strip().split("\n")[2:])}
    rows.update((tuple(cells[:2]), cells) for cells in map(row, runs))
    return HEAD + "".join("| %s |\n" % " | ".join(cells) for cells in sorted(rows.values(), key=order))


def fails(count):
    """How many fail, and their share, so that rows compare although the number of checks differs."""
    asked = count["pass"] + count["fail"]
    return "%d of %d" % (count["fail"], asked) + (" (%.1f%%)" % (100 * count["fail"] / asked) if count["fail"] else "")
