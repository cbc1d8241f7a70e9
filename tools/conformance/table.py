# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The table of several MPIs, from what --json wrote. Its rows can be kept."""

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
    """As people call that MPI: "MPICH 4.0.2"."""
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
    """What the table says of a run."""
    of = {kind: "%d of %d" % (c["pass"], c["pass"] + c["fail"]) for kind, c in run["counts"].items()}
    return {"mpi": short_name(run), "called": run["called"], "demanded": of["demanded"], "implied": of["implied"],
            "fails": grouped(r["check"] for r in failing(run, "demanded")), "date": run["date"], "ranks": run["ranks"]}


def order(a_row):
    """How rows are sorted: the standard ABI last; of one MPI, native, served, others."""
    ways = ["native", "served"]
    return ("standard ABI" in a_row["mpi"], a_row["mpi"],
            ways.index(a_row["called"]) if a_row["called"] in ways else len(ways), a_row["called"])


def markdown(rows):
    dates = sorted({a_row["date"] for a_row in rows})
    lines = ["| %s, %d ranks | | demanded: fails | implied: fails | what fails of what is demanded |" % (
        dates[0] if len(dates) == 1 else "%s to %s" % (dates[0], dates[-1]), rows[0]["ranks"]), "|---|---|---|---|---|"]
    for a_row in sorted(rows, key=order):
        lines.append("| %s | %s | %s | %s | %s |" % (
            a_row["mpi"], cell(a_row["called"]), fails(a_row["demanded"]), fails(a_row["implied"]),
            ", ".join(a_row["fails"]) or "nothing"))
    return "\n".join(lines) + "\n"


def fails(passes):
    """"265 of 275" pass: how many fail, and their share, by which rows compare although MPIs aren't asked the same."""
    good, asked = map(int, passes.split(" of "))
    return "%d of %d" % (asked - good, asked) + (" (%.1f%%)" % (100 * (asked - good) / asked) if good < asked else "")


def kept(path, runs):
    """The rows of the file, which needn't be there, with those of the runs in the place of older ones."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
    except FileNotFoundError:
        rows = []
    new = [row(run) for run in runs]
    replaced = {(a_row["mpi"], a_row["called"]) for a_row in new}
    return sorted([a_row for a_row in rows if (a_row["mpi"], a_row["called"]) not in replaced] + new, key=order)


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")[:300]
