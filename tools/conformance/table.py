# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The table of several MPIs, from what --json wrote."""

import json
import re

import report
import suite
from mpi import BadInput


def read(paths):
    """The runs that --json wrote."""
    runs = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
            if data["format"] != report.FORMAT:
                raise BadInput("%s: its format is %s, not %d" % (path, data["format"], report.FORMAT))
        except OSError as error:
            raise BadInput("%s: %s" % (path, error.strerror)) from None
        except (ValueError, KeyError, TypeError):
            raise BadInput("%s is not what --json writes" % path) from None
        runs.append(data)
    return sorted(runs, key=lambda run: order(row(run)))


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


def failing(run, kind):
    return [r for r in run["results"] if r["kind"] == kind and r["result"] == "fail"]


def row(run):
    """The cells of a run's row."""
    counts = run["counts"]
    return [cell(text) for text in (
        short_name(run), run["called"], fails(counts["demanded"]), fails(counts["implied"]),
        ", ".join(grouped(r["check"] for r in failing(run, "demanded"))) or "nothing", run["date"])]


def order(cells):
    """How rows are sorted: the standard ABI last; of one MPI, native, served, others."""
    mpi, called = cells[:2]
    ways = ["native", "served"]
    return "standard ABI" in mpi, mpi, ways.index(called) if called in ways else len(ways), called


HEAD = "| MPI | | demanded: fails | implied: fails | demanded checks that fail | date |\n|---|---|---|---|---|---|\n"


def markdown(rows):
    return HEAD + "".join("| %s |\n" % " | ".join(cells) for cells in sorted(rows, key=order))


def renewed(table, runs):
    """A table in Markdown with the rows of the runs, in the place of older ones of the same MPIs and ways."""
    rows = {tuple(cells[:2]): cells for cells in (
        line.strip("| ").split(" | ") for line in table.strip().split("\n")[2:])}
    rows.update((tuple(cells[:2]), cells) for cells in map(row, runs))
    return markdown(rows.values())


def fails(count):
    """How many fail, and their share, so that rows compare although the number of checks differs."""
    asked = count["pass"] + count["fail"]
    return "%d of %d" % (count["fail"], asked) + (" (%.1f%%)" % (100 * count["fail"] / asked) if count["fail"] else "")


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")[:300]
