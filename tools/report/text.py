# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The report as text: what was used most, then the findings, then how ranks differ."""

import signal

import findings
from ranks import Differences
from reading import sums, title
from words import aligned, counted, duration, listed, on_ranks, shown

# Up to this many ranks get a line each.
FEW_RANKS = 8
# The columns of numbers, each with a second line: (label, unit, its names in a keyval's line).
USES = [
    ("keyvals", "made", ["created"]),
    ("freed", "keyvals", ["freed"]),
    ("sets", "", ["sets"]),
    ("gets", "found", ["gets"]),
    ("gets", "absent", ["absent"]),
    ("deletes", "", ["deletes"]),
    ("copied", "by dup", ["copies"]),
    ("callbacks", "calls", ["copy_calls", "delete_calls"]),
    ("callbacks", "time", ["callback_own_ns"]),
]


def uses(line):
    return [sum(line[name] for name in names) for _, _, names in USES]


# ---- The head, which the page has, too ----


def headline(report):
    return f"the attributes of {counted(report['ranks'], 'rank')} of {report['mpi']}"


def span(report):
    end = "MPI_Finalize" if report["finalized"] else "the end"
    took = report["sum"]["seconds"] * 1e9
    # Of ranks that were killed, when that was is known to the run that saw it.
    return f"from MPI_Init to {end}" + (f" ({duration(took)})" if took else "")


def ended(code):
    names = {one.value: one.name for one in signal.Signals}
    return f"exit code {code}" if code >= 0 else f"ended by {names.get(-code, f'signal {-code}')}"


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
    worlds, parts = report["worlds"], report["per_rank"]
    if len(worlds) > 1:
        out.append(
            f"There were {len(worlds)} MPI_COMM_WORLDs, of {listed([f'{n:,}' for n in worlds], 6)} "
            "ranks: ranks are numbered on from one to the next."
        )
    unfinished = [part["rank"] for part in parts if not part["finalized"]]
    if unfinished:
        count = counted(len(unfinished), "rank")
        out.append(f"MPI_Finalize was not called on {count}: {listed(unfinished, 8)}.")
    partial = [part["rank"] for part in parts if part["partial"]]
    if partial:
        out.append(
            "Partial, since they were still running, ended from outside, or aborted: "
            f"{counted(len(partial), 'rank')}, {listed(partial, 8)}. "
            "What they have left behind isn't known for certain."
        )
    if report["ranks_heard_of"] < report["ranks"]:
        out.append(missing(report))
    out += [
        f"Not counted: {kind}s, on {counted(ranks, 'rank')}, "
        "because a tool in front wraps their functions."
        for kind, ranks in report["sum"]["not_served"].items()
        if ranks
    ]
    return out + most_alive(report)


def most_alive(report):
    """How many objects a process had at once at most, since MPIs run out of context ids."""
    most = [counted(n, kind) for kind, n in report["sum"]["most_alive"].items() if n]
    return [f"Alive at once in one process, at most: {', '.join(most)}."] if most else []


def missing(report):
    served = [f"{one['rank']} on {one['host']}" for one in report["missing"] if one["host"]]
    others = [one["rank"] for one in report["missing"] if not one["host"]]
    said = f"Heard of {counted(report['ranks_heard_of'], 'rank')} only, of {report['ranks']:,}."
    if served:
        said += f" Killed, or ended without MPI_Finalize: {listed(served, 8)}."
    if others:
        said += f" Not served by attrcache, or killed: {listed(others, 8)}."
    return said


def nothing_found(report, found):
    """What to say if nothing was found on the ranks heard of. None if there are findings, or nothing was made."""
    made_some = report["sum"]["keyvals"] or report["sum"]["made"]
    if found or not made_some:
        return None
    said = "Nothing is left behind, no callback failed, no misuse"
    if any(part["partial"] for part in report["per_rank"]):
        said = "No callback failed, no misuse"
    if report["ranks_heard_of"] < report["ranks"]:
        return said + f" on the {counted(report['ranks_heard_of'], 'rank')} heard of."
    return said + "."


# ---- The parts ----


def table(name, rows):
    """A line of numbers for each (name, numbers of a keyval's line)."""
    cells = [[label for label, _, _ in USES] + [""], [unit for _, unit, _ in USES] + [name]]
    for last, line in rows:
        numbers = zip(USES, uses(line))
        # Zero is a dash, because most of the numbers are zero.
        cells.append([shown(names[0], n) if n else "-" for (_, _, names), n in numbers] + [last])
    return ["", *aligned(cells, len(USES))]


def no_keyval(report):
    """What to say if no keyval was made: what was made else."""
    kinds = {}
    for one in report["sum"]["made"]:
        total = kinds.setdefault(one["kind"], [0, 0])
        total[0] += one["made"]
        total[1] += one["freed"]
    made = [f"{counted(n, kind)} ({freed:,} freed)" for kind, (n, freed) in sorted(kinds.items())]
    return f"No keyval was made, but {', '.join(made)}." if made else "No keyval was made."


def keyvals(report):
    lines = report["sum"]["keyvals"]
    if not lines:
        return ["", no_keyval(report)]
    rows = [(title(line), line) for line in lines]
    rows += [("all", sums(lines))] if len(lines) > 1 else []
    return table("of keyvals with this delete_fn or copy_fn", rows)


def finding_lines(one, report):
    """A finding with the first of its places; a single one that adds something is on its line."""
    parts, what = one.parts, one.what
    if len(parts) == 1 and parts[0].count == one.count:
        if parts[0].text.startswith(("at ", "made at ", "on ")):
            what += ", " + parts[0].text
        parts = []
    out = [f"  {what}: {one.why}{on_ranks(one.ranks, report)}"]
    for part in parts[:3]:
        ranks = on_ranks(part.ranks, report) if part.ranks != one.ranks else ""
        out.append(f"    {part.count:,} {part.text}{ranks}")
    return out + ([f"    and {len(parts) - 3:,} more"] if len(parts) > 3 else [])


def findings_text(report, found):
    out = []
    for sort, some in found.items():
        more = sort == "Misuse" and not report["checked"]
        out += ["", sort + " (ATTRCACHE_CHECK=1 finds more)" * more + ":"]
        for one in some:
            out += finding_lines(one, report)
    return out


def ranks(parts):
    if len(parts) < 2:
        return []
    found = Differences(parts)
    out = ["", found.said]
    if not found.differ:
        return out
    if len(parts) <= FEW_RANKS:
        return out + table("rank", [(str(part["rank"]), sums(part["keyvals"])) for part in parts])
    rows = [["", "least", "median", "most"]] + [one.cells()[:4] for one in found.spreads]
    return [*out, "", *("  " + line for line in aligned(rows))]


def text(report, trace):
    """The report for people; `trace` is the file of its timeline, if there is one."""
    out = ["", f"attrcache: {headline(report)}, {span(report)}"]
    out += [report["command"]] if report["command"] else []
    out += [", ".join(facts(report)), *notes(report)]
    found = findings.of(report)
    out += [*keyvals(report), *findings_text(report, found)]
    quiet = nothing_found(report, found)
    out += ["", quiet] if quiet else []
    out += ranks(report["per_rank"])
    if trace:
        out += [
            "",
            f"The timeline is in {trace}: open it in https://ui.perfetto.dev, or chrome://tracing.",
        ]
    return "\n".join(out) + "\n\n"
