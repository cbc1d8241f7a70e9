# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A table of several MPIs, from what --json wrote."""

import json
import os
import re

import report
import suite
from mpi import BadInput


def read(paths):
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
    return sorted(runs, key=lambda run: (run["standard_abi"], short_name(run), called(run) != "native", run["served"] is False))


def short_name(run):
    """As people call that MPI: "MPICH 4.0.2"."""
    found = re.match(r"([A-Za-z ]*?)(?: Version)?:? v?(\d[\w.]*)", run["mpi"])
    name = "%s %s" % (found.group(1).strip(), found.group(2)) if found else run["mpi"][:40]
    return name + (", standard ABI" if run["standard_abi"] else "")


def called(run):
    return run.get("called") or ("served" if run["served"] else "native")


def grouped(names):
    """Names of checks, without the kind of object and the Fortran interface where several differ in that alone."""
    ends = "|".join(list(suite.KINDS) + list(suite.FACES))
    stems = {}
    for name in names:
        stems.setdefault(re.sub(r"(-(?:%s))+$" % ends, "", name), []).append(name)
    return ["`%s`%s" % ((stem, " (%d)" % len(all_of)) if len(all_of) > 1 else (all_of[0], ""))
            for stem, all_of in stems.items()]


def of(run, kind):
    c = run["counts"][kind]
    return "%d of %d" % (c["pass"], c["pass"] + c["fail"])


def failing(run, kind):
    return [r for r in run["results"] if r["kind"] == kind and r["result"] == "fail"]


def dates(runs):
    found = sorted({run["date"] for run in runs})
    return found[0] if len(found) == 1 else "%s to %s" % (found[0], found[-1])


def make(paths, page):
    """The table; the details go to the file page, too, if one is given."""
    runs = read(paths)
    lines = ["| %s, %d ranks | | the standard demands: pass | it implies: pass | what fails of the former |" % (
        dates(runs), runs[0]["ranks"]), "|---|---|---|---|---|"]
    for run in runs:
        lines.append("| %s | %s | %s | %s | %s |" % (
            short_name(run), cell(called(run)), of(run, "demanded"), of(run, "implied"),
            ", ".join(grouped(r["check"] for r in failing(run, "demanded"))) or "nothing"))
    text = "\n".join(lines) + "\n"
    if page:
        with open(page, "w", encoding="utf-8") as file:
            file.write(details(runs, text))
    return text


PAGE = """<!-- SPDX-License-Identifier: Apache-2.0 OR MIT -->
# Attributes in MPIs

Made by `%(tool)s --table`, from the JSON files beside it, which it wrote on %(dates)s. "Served" is under
`attrcache-run`, "embedded" an MPI that `tools/embed` made, with attrcache inside. Which check asks what:
`%(tool)s --list`; a program that shows a failure by itself: `%(tool)s --reproducer CHECK`. A number in brackets counts
kinds of objects and Fortran interfaces. Races are looked for in bounded storms, so natively they are seen in one run and
not in another.

%(table)s
"""


def details(runs, text):
    tool = "check-mpi"
    parts = [PAGE % {"tool": tool, "dates": dates(runs), "table": text}]
    for run in runs:
        parts.append("## %s, %s\n\n%s\n" % (
            short_name(run), called(run), ". ".join([report.headline(run)] + report.totals(run)) + "."))
        for kind in ("demanded", "implied"):
            failures = failing(run, kind)
            if failures:
                parts.append("| fails (%s) | standard | expected | seen |\n|---|---|---|---|" % report.SAYS[kind])
                parts += ["| `%s` | %s | %s | %s |" % (r["check"], suite.cite(r["standard"]),
                                                      cell(r.get("expected", "")), cell(r.get("seen", "")))
                          for r in failures]
                parts.append("")
    parts.append("## What the standard leaves open\n")
    checks = [check for section in suite.read_sections() for check in section.checks if check.kind == "open"]
    for check in checks:
        name = check.name
        parts.append("**%s** (%s): %s\n" % (name, suite.cite(check.number), check.rule))
        said = {}
        for run in runs:
            for r in run["results"]:
                if r["check"] == name and r["result"] == "open":
                    said.setdefault(r.get("detail", ""), []).append(
                        short_name(run) + ("" if called(run) == "native" else " " + called(run)))
        parts += ["* %s: %s" % ("; ".join(who), cell(what)) for what, who in said.items()]
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")[:300]
