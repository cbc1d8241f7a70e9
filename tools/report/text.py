# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The report as text: what was used most, then the findings, then how ranks differ."""

import signal

import findings
from reading import LABELS, NUMBERS, TIMES, sums, title
from spread import spread
from words import counted, duration, listed, on_ranks

# Up to this many ranks get a line each.
FEW_RANKS = 8
WIDTHS = (6, 6, 8, 9, 7, 7, 7, 6, 9)
FIRST = ("key-", "", "", "get:", "", "", "copied", "call-", "time in")
SECOND = ("vals", "freed", "set", "found", "absent", "delete", "by dup", "backs", "callbacks")


def cell(number):
    """Zero is a dash, because most of the numbers are zero."""
    return f"{number:,}" if number else "-"


def row(cells, last):
    return "".join(f" {text:>{width}}" for text, width in zip(cells, WIDTHS)) + f"  {last}".rstrip()


def row_of(line, last):
    numbers = [
        line[name] for name in ("created", "freed", "sets", "gets", "absent", "deletes", "copies")
    ]
    numbers.append(line["copy_calls"] + line["delete_calls"])
    time = line["callback_own_ns"]
    return row([cell(n) for n in numbers] + [duration(time) if time else "-"], last)


def heading(last):
    return ["", row(FIRST, ""), row(SECOND, last)]


# ---- The head, which the page has, too ----


def headline(report):
    return f"the attributes of {counted(report['ranks'], 'rank')} of {report['mpi']}"


def span(report):
    end = "MPI_Finalize" if report["finalized"] else "the end"
    return f"from MPI_Init to {end} ({duration(report['sum']['seconds'] * 1e9)})"


def ended(code):
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


def facts(report):
    """Which run it was."""
    hosts = report["hosts"]
    found = [report["started"]] if report["started"] else []
    found += ["job " + report["job"]] if report["job"] else []
    if hosts:
        found.append(
            f"{'host' if len(hosts) == 1 else counted(len(hosts), 'host') + ':'} {listed(hosts, 4)}"
        )
    found += [ended(report["exit_code"])] if report["exit_code"] is not None else []
    return found + ["attrcache " + report["attrcache"]]


def notes(report):
    """What a reader must know of the report's completeness."""
    out = []
    worlds = report["worlds"]
    if len(worlds) > 1:
        out.append(
            f"There were {len(worlds)} MPI_COMM_WORLDs, of {listed([f'{size:,}' for size in worlds], 6)}"
            " ranks: ranks are numbered on from one to the next."
        )
    unfinished = [str(part["rank"]) for part in report["per_rank"] if not part["finalized"]]
    if unfinished:
        out.append(
            f"MPI_Finalize was not called on {counted(len(unfinished), 'rank')}: "
            f"{listed(unfinished, 8)}."
        )
    partial = [str(part["rank"]) for part in report["per_rank"] if part["partial"]]
    if partial:
        out.append(
            "Partial, since they were still running, ended from outside, or aborted: "
            f"{counted(len(partial), 'rank')}, {listed(partial, 8)}."
        )
    if report["ranks_heard_of"] < report["ranks"]:
        out.append(missing(report))
    out += [
        f"Not counted: {kind}s, on {counted(ranks, 'rank')}, "
        "because a tool in front wraps their functions."
        for kind, ranks in report["sum"]["not_served"].items()
        if ranks
    ]
    return out


def missing(report):
    served = [f"{one['rank']} on {one['host']}" for one in report["missing"] if one["host"]]
    others = [str(one["rank"]) for one in report["missing"] if not one["host"]]
    said = f"Heard of {counted(report['ranks_heard_of'], 'rank')} only, of {report['ranks']:,}."
    if served:
        said += f" Killed, or ended without MPI_Finalize: {listed(served, 8)}."
    if others:
        said += f" Not served by attrcache, or killed: {listed(others, 8)}."
    return said


def nothing_found(report):
    """The sentence that says so, of the ranks heard of; None if something was, or no keyval was made."""
    if not report["sum"]["keyvals"] or {one.sort for one in findings.of(report)} - {
        findings.HANDED
    }:
        return None
    said = "Nothing is left behind, no callback failed, no misuse"
    if report["ranks_heard_of"] < report["ranks"]:
        return said + f" on the {counted(report['ranks_heard_of'], 'rank')} heard of."
    return said + "."


# ---- The parts ----


def table(lines):
    if not lines:
        return ["", "No keyval was made."]
    out = heading("of keyvals with this delete_fn or copy_fn") + [
        row_of(line, title(line)) for line in lines
    ]
    return out + ([row_of(sums(lines), "all")] if len(lines) > 1 else [])


def finding_lines(one, report):
    """A finding with the first of its places; a single one that adds something is on its line."""
    parts, what = one.parts, one.what
    if len(parts) == 1 and parts[0].count in (0, one.count):
        what += (
            f", {parts[0].text}"
            if parts[0].text.startswith(("at ", "by ", "made at ", "on "))
            else ""
        )
        parts = []
    out = [f"  {what}: {one.why}{on_ranks(one.ranks, report)}"]
    for part in parts[:3]:
        number = f"{part.count:,} " if part.count else ""
        ranks_ = on_ranks(part.ranks, report) if part.ranks != one.ranks else ""
        out.append(f"    {number}{part.text}{ranks_}")
    return out + ([f"    and {len(parts) - 3:,} more"] if len(parts) > 3 else [])


def found(report):
    out, sort = [], None
    for one in findings.of(report):
        if one.sort != sort:
            sort = one.sort
            more = sort == findings.MISUSE and not report["checked"]
            out += ["", findings.HEADINGS[sort] + " (ATTRCACHE_CHECK=1 finds more)" * more + ":"]
        out += finding_lines(one, report)
    return out


def ranks(parts):
    if len(parts) < 2:
        return []
    of = [(part["rank"], sums(part["keyvals"])) for part in parts]
    # Times are not compared, because they always differ.
    counts = [name for name in NUMBERS if name not in TIMES]
    if all(one[name] == of[0][1][name] for _, one in of for name in counts):
        return ["", "All ranks did the same, but for the time it took."]
    if len(of) <= FEW_RANKS:
        return heading("rank") + [row_of(one, rank) for rank, one in of]
    out = ["", f"  {'over ranks':25} {'least':>19} {'median':>19} {'most':>19}"]
    for name in NUMBERS:
        found = spread([one[name] for _, one in of])
        if name == "callback_ns" or found["least"] == found["most"]:
            continue
        shown = duration if name in TIMES else "{:,}".format
        ends = [
            f"{shown(found[end])} (rank {of[found[end + '_at']][0]})" for end in ("least", "most")
        ]
        median = shown(found["median"])
        out.append(f"  {LABELS[name]:25} {ends[0]:>19} {median:>19} {ends[1]:>19}")
    return out


def text(report, trace):
    """The report for people; `trace` is the file of its timeline, if there is one."""
    lines = report["sum"]["keyvals"]
    out = ["", f"attrcache: {headline(report)}, {span(report)}"]
    out += [report["command"]] if report["command"] else []
    out += [", ".join(facts(report)), *notes(report), *table(lines), *found(report)]
    quiet = nothing_found(report)
    out += ["", quiet] if quiet else []
    out += ranks(report["per_rank"])
    if trace:
        out += [
            "",
            f"The timeline is in {trace}: open it in https://ui.perfetto.dev, or chrome://tracing.",
        ]
    return "\n".join(out) + "\n\n"
