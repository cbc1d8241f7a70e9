# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The findings of a report: what was left behind, callbacks that failed, and misuse. The text, the page
and the trace's markers all show these."""

import collections
from typing import NamedTuple

from reading import key_of, origin
from words import counted

# What ends an object of a kind that has no attributes in MPI itself.
ENDS = {"session": "MPI_Session_finalize", "file": "MPI_File_close"}

class Part(NamedTuple):
    """A place or an object that has some of what a finding counts."""

    text: str
    count: int
    ranks: list


class Finding(NamedTuple):
    count: int
    what: str  # "3 keyvals of libsolver.so: forget"
    why: str  # "no MPI_Comm_free_keyval"
    ranks: list
    parts: list
    is_fault: bool = True  # else it is only worth knowing


def gathered(report, entries):
    """{key: (sum, ranks that have some, parts)} of what entries(summary of a rank) yields: (key, place
    or object or "", number). The largest part comes first."""
    tallies = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, set()]))
    for part in report["per_rank"]:
        for key, where, number in entries(part):
            for tally in [tallies[key][None], tallies[key][where]] if number > 0 else []:
                tally[0] += number
                tally[1].add(part["rank"])
    found = {}
    for key, by_place in tallies.items():
        number, on = by_place.pop(None)
        parts = [Part(where, n, sorted(some)) for where, (n, some) in by_place.items() if where]
        found[key] = number, sorted(on), sorted(parts, key=lambda part: -part.count)
    return found


def gathered_lines(report, entries):
    """(line, sum, ranks, parts) of what entries(line) yields, (place or "", number), for each line of
    keyvals that has some."""

    def all_entries(summary):
        for line in summary["keyvals"]:
            for where, number in entries(line):
                yield key_of(line), where, number

    found, lines = gathered(report, all_entries), report["sum"]["keyvals"]
    return [(line, *found[key_of(line)]) for line in lines if key_of(line) in found]


def function(report, kind, does):
    """MPI_Comm_free_keyval"""
    return f"MPI{'X' * (kind in ENDS)}_{report['kinds'].get(kind, kind)}_{does}"


def end_of(report, kind):
    return ENDS.get(kind, function(report, kind, "free"))


def keyvals(report):
    """Keyvals that were never freed, each by where it was made."""

    def entries(line):
        rest = line["leaked"]
        for place, number in line["leaked_at"].items():
            yield f"made at {place}", number
            rest -= number
        is_known = line["made_at"] and not line["leaked_at"]
        yield f"made at {line['made_at']}, the first of all" if is_known else "", rest

    for line, number, ranks, parts in gathered_lines(report, entries):
        why = "no " + function(report, line["kind"], "free_keyval")
        what = f"{counted(number, 'keyval')} of {origin(line)}"
        yield Finding(number, what, why, ranks, parts)


def attributes(report):
    """Attributes still attached. Those that differ only in their object are one finding."""

    def entries(summary):
        for one in summary["attached"]:
            maker = one["kind"], one["library"], one["function"]
            key = maker, one["predefined"], one["deleted_by_finalize"]
            yield key, f"on {one['object']}", one["attributes"]

    lines = {key_of(line)[:3]: line for line in report["sum"]["keyvals"]}
    rest = later(report)
    for key, (number, ranks, parts) in gathered(report, entries).items():
        maker, is_predefined, is_deleted = key
        them = "it" if number == 1 else "them"
        if is_deleted:
            why = f"MPI_Finalize will delete {them}"
        elif is_predefined:
            why = f"{report['mpi']} never deletes {them}"
        else:
            why = f"no successful {end_of(report, maker[0])}{rest}" + fate(lines.get(maker), rest)
        made_by = origin(dict(library=maker[1], function=maker[2]))
        what = f"{counted(number, 'attribute')} of {made_by}"
        yield Finding(number, what, why, ranks, parts, not is_deleted)


def fate(line, rest):
    """What is known of delete_fn for an attribute that is left."""
    if line is None or not line["has_delete_fn"]:
        return ""
    if line["failed"]:
        return "; a callback of it failed, see below"
    return "" if rest else ", so delete_fn never ran"


def later(report):
    """What to add to "no MPI_Comm_free" if a delete_fn of an attribute that MPI_Finalize has still to delete,
    after a rank has handed over, may call it."""
    run = {key_of(line)[:3] for line in report["sum"]["keyvals"] if line["has_delete_fn"]}
    left = [one for one in report["sum"]["attached"] if one["deleted_by_finalize"]]
    may = any((one["kind"], one["library"], one["function"]) in run for one in left)
    return " so far, and MPI_Finalize has callbacks yet to run" * may


def still_alive(summary):
    """Those that were made and not freed, by kind and place: ((kind, place), number)."""
    for one in summary["made"]:
        if one["made"] > one["freed"]:
            yield (one["kind"], one["place"]), one["made"] - one["freed"]


def alive(report):
    """Objects that were made and not freed, by the place that made them, with or without attributes."""

    def entries(summary):
        for at, number in still_alive(summary):
            yield at, "", number

    made = {(one["kind"], one["place"]): one["made"] for one in report["sum"]["made"]}
    rest = later(report)
    for (kind, place), (number, ranks, _) in gathered(report, entries).items():
        what = f"{number:,} of {counted(made.get((kind, place), number), kind)}" + f" made at {place}" * bool(place)
        yield Finding(number, what, f"no {end_of(report, kind)}{rest}", ranks, [])


def failures(report):
    for line, number, ranks, _ in gathered_lines(report, lambda line: [("", line["failed"])]):
        calls = counted(line["copy_calls"] + line["delete_calls"], "call")
        what = f"{number:,} of {calls} of {origin(line)}"
        why = f"the last with code {line['last_failure']}"
        yield Finding(number, what, why, ranks, [])


def misuse(report):
    def entries(summary):
        for sort, one in summary["misuse"].items():
            key = sort, one["what"], one["rule"]
            for place, times in one["places"].items():
                yield key, f"at {place}", times
            yield key, "", one["times"] - sum(one["places"].values())

    for (sort, why, rule), (number, ranks, parts) in gathered(report, entries).items():
        why += f" ({rule})" if rule else ""
        yield Finding(number, f"{number:,} x {sort}", why, ranks, parts)


# The sorts of findings, in the order in which reports have them.
SORTS = {
    "Left behind": (keyvals, attributes, alive),
    "Callbacks that failed": (failures,),
    "Misuse": (misuse,),
}


def of(report):
    """{sort: its findings, the most numerous first}; without sorts of which there are none."""
    found = {
        sort: [one for make in makers for one in make(report)] for sort, makers in SORTS.items()
    }
    for some in found.values():
        some.sort(key=lambda one: (not one.is_fault, -one.count))
    return {sort: some for sort, some in found.items() if some}


def of_rank(report, part):
    """The findings of one rank alone."""
    return of(dict(report, sum=part, per_rank=[part]))
