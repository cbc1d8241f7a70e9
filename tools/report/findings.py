# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The findings of a report: what was left behind, callbacks that failed, misuse, and deletions that
were left to another thread. The text, the page and the trace's markers all come from here."""

import collections
from typing import NamedTuple

from reading import ENDS, origin
from words import counted

# The sorts of findings, in the order in which reports have them.
LEFT, FAILED, MISUSE, HANDED = "left behind", "callbacks that failed", "misuse", "deletions left"
HEADINGS = {
    LEFT: "Left behind",
    FAILED: "Callbacks that failed",
    MISUSE: "Misuse",
    HANDED: "Deletions that were left to another thread",
}


class Part(NamedTuple):
    """Where a finding was made, or on which object."""

    text: str
    count: int
    ranks: list


class Finding(NamedTuple):
    sort: str
    count: int
    what: str  # "3 keyvals of libsolver.so: forget"
    why: str  # "no MPI_Comm_free_keyval"
    ranks: list
    parts: list
    is_fault: bool = True  # else it is only worth knowing


def of(report):
    """All findings of a report, the most numerous of each sort first."""
    found = [*keyvals(report), *attributes(report), *objects(report)]
    found.sort(key=lambda one: (not one.is_fault, -one.count))
    return [*found, *failures(report), *misuse(report), *deletions(report)]


def of_rank(report, part):
    """Those of one rank alone."""
    return of(dict(report, sum=part, per_rank=[part]))


def ranks_with(report, keys):
    """{key: the ranks of which keys(part) has it}"""
    found = {}
    for part in report["per_rank"]:
        for key in keys(part):
            found.setdefault(key, set()).add(part["rank"])
    return collections.defaultdict(list, {key: sorted(ranks) for key, ranks in found.items()})


def users(line):
    return line["kind"], line["library"], line["function"]


def lines_with(report, names):
    """The lines of keyvals with any of these numbers: (line, their sum, the ranks that have some)."""

    def number(line):
        return sum(line[name] for name in names)

    on = ranks_with(report, lambda part: [users(one) for one in part["keyvals"] if number(one)])
    lines = report["sum"]["keyvals"]
    return [(line, number(line), on[users(line)]) for line in lines if number(line)]


def objects_with(report, member, key, number):
    """Entries about objects, in groups of the same key: (the first, their sum, ranks, parts)."""

    def keys(part):
        return [(key(one), name) for one in part[member] for name in (None, one["object"])]

    on, groups = ranks_with(report, keys), {}
    for one in report["sum"][member]:
        groups.setdefault(key(one), []).append(one)
    for alike, entries in groups.items():
        parts = [Part(one["object"], one[number], on[alike, one["object"]]) for one in entries]
        yield entries[0], sum(part.count for part in parts), on[alike, None], parts


def end_of(report, kind):
    return ENDS.get(kind, f"MPI_{report['kinds'][kind]}_free")


def keyvals(report):
    """Keyvals that were never freed, each by where it was made."""

    def keys(part):
        return [(users(line), place) for line in part["keyvals"] for place in line["leaked_at"]]

    at = ranks_with(report, keys)
    for line, number, ranks in lines_with(report, ["leaked"]):
        places = sorted(line["leaked_at"].items(), key=lambda item: -item[1])
        parts = [Part(f"made at {place}", times, at[users(line), place]) for place, times in places]
        if not parts and line["made_at"]:
            parts = [Part(f"made at {line['made_at']}, the first of all", 0, [])]
        what = f"{counted(number, 'keyval')} of {origin(line)}"
        mpi = f"MPI{'X' * (line['kind'] in ENDS)}_{report['kinds'][line['kind']]}"
        yield Finding(LEFT, number, what, f"no {mpi}_free_keyval", ranks, parts)


def attributes(report):
    """Those still attached. Those that are alike but for their object are one finding."""

    def alike(one):
        return (*users(one), one["predefined"], one["deleted_by_finalize"])

    lines = {users(line): line for line in report["sum"]["keyvals"]}
    for one, number, ranks, parts in objects_with(report, "attached", alike, "attributes"):
        them = "it" if number == 1 else "them"
        if one["deleted_by_finalize"]:
            why = f"MPI_Finalize will delete {them}"
        elif one["predefined"]:
            why = f"{report['mpi']} never deletes {them}"
        else:
            why = f"no successful {end_of(report, one['kind'])}" + fate(lines.get(users(one)))
        what = f"{counted(number, 'attribute')} of {origin(one)}"
        parts = [part._replace(text=f"on {part.text}") for part in parts]
        yield Finding(LEFT, number, what, why, ranks, parts, not one["deleted_by_finalize"])


def fate(line):
    """What is known of delete_fn for an attribute that is left."""
    if line is None or not line["has_delete_fn"]:
        return ""
    return "; a callback of it failed, see below" if line["failed"] else ", so delete_fn never ran"


def objects(report):
    """Those never freed, by where they came from, whatever their names are."""

    def source(one):
        return one["kind"], one["from"], one["place"]

    for one, number, ranks, parts in objects_with(report, "objects", source, "count"):
        how = "made by a dup" if one["from"] == "dup" else "first used"
        at = f", {how} at {one['place']}" if one["place"] else ""
        what = counted(number, one["kind"]) + at
        yield Finding(LEFT, number, what, "no " + end_of(report, one["kind"]), ranks, parts)


def failures(report):
    for line, number, ranks in lines_with(report, ["failed"]):
        calls = counted(line["copy_calls"] + line["delete_calls"], "call")
        what = f"{number:,} of {calls} of {origin(line)}"
        why = f"the last with code {line['last_failure']}"
        yield Finding(FAILED, number, what, why, ranks, [])


def misuse(report):
    def keys(part):
        sorts = part["misuse"].items()
        return [(sort, place) for sort, one in sorts for place in [None, *one["places"]]]

    on = ranks_with(report, keys)
    for sort, one in sorted(report["sum"]["misuse"].items(), key=lambda item: -item[1]["times"]):
        places = sorted(one["places"].items(), key=lambda item: -item[1])
        parts = [Part(f"at {place}", times, on[sort, place]) for place, times in places]
        why = one["what"] + (f" ({one['rule']})" if one["rule"] else "")
        what = f"{one['times']:,} x {sort}"
        yield Finding(MISUSE, one["times"], what, why, on[sort, None], parts)


def deletions(report):
    """Deletions of values that another thread's dup was just copying, which ran delete_fn then."""
    for line, number, ranks in lines_with(report, ["left_by_set", "left_by_delete"]):
        mpi = f"MPI_{report['kinds'][line['kind']]}"
        by = [
            Part(f"by {mpi}_{name}_attr", line[f"left_by_{name}"], ranks)
            for name in ("set", "delete")
        ]
        what = f"{counted(number, 'deletion')} of {origin(line)}"
        why = f"{mpi}_dup was copying the value in another thread, and ran delete_fn itself"
        parts = [part for part in by if part.count]
        yield Finding(HANDED, number, what, why, ranks, parts, False)
