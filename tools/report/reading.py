# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads reports as JSON (lib/mpi/README.md describes their members).

Anybody may have written the file, so everything that is used later is checked here: a report that
read() returns has the members below, with these types, and all its text is printable.
"""

import json

from words import printable

FORMAT = 1

# The numbers of a keyval's line, and their names for people.
LABELS = {
    "created": "keyvals made",
    "freed": "keyvals freed",
    "leaked": "keyvals never freed",
    "sets": "sets",
    "gets": "gets, found",
    "absent": "gets, absent",
    "deletes": "deletes",
    "copies": "copied by dup",
    "deleted_with_object": "deleted with their object",
    "attached": "attributes left",
    "copy_calls": "calls of copy_fn",
    "delete_calls": "calls of delete_fn",
    "failed": "callbacks that failed",
    "left_by_set": "deletions that a set left to a dup",
    "left_by_delete": "deletions that a delete left to a dup",
    "callback_ns": "time in callbacks, with those they cause",
    "callback_own_ns": "time in callbacks",
}
NUMBERS = list(LABELS)

# Counters have 64 bits.
MOST = 2**64


class Bad(Exception):
    """What is wrong with a file, as a sentence for people."""


def loaded(data, name):
    """The value of a JSON text."""
    try:
        return json.loads(data.decode(errors="replace"))
    except (ValueError, RecursionError) as error:
        raise Bad(f"{name} is no JSON: {error}") from None


def content(path):
    """The value in a file of JSON."""
    try:
        with open(path, "rb") as file:
            return loaded(file.read(), path)
    except OSError as error:
        raise Bad(f"{path} can't be read: {error.strerror}") from None


def read(path):
    """The report in a file, with every member that is used."""
    report = content(path)
    if not isinstance(report, dict) or "format" not in report or "sum" not in report:
        raise Bad(f"{path} is no report of attrcache-run --report=FILE.json")
    if report["format"] != FORMAT:
        raise Bad(
            f"{path} is a report of format {str(report['format'])[:20]}, but this attrcache-run reads "
            f"format {FORMAT}"
        )
    try:
        report = checked("report", report, REPORT)
    except Bad as error:
        raise Bad(f"{path} is a damaged report: {error}") from None
    report["per_rank"].sort(key=lambda one: one["rank"])
    return report


# ---- The members of a report ----

# A type is one of Python's, a tuple of some, a count, a list of one type, or a table of members. A
# table with "*" has members of any name.
COUNT = "a count"
COUNTS = {"*": COUNT}

KEYVAL = dict(kind=str, library=str, function=str, named_by=str, made_at=str, has_delete_fn=bool)
KEYVAL.update(dict.fromkeys(NUMBERS, COUNT), last_failure=int, leaked_at=COUNTS)
ATTACHED = dict(kind=str, object=str, library=str, function=str, attributes=COUNT)
ATTACHED.update(predefined=bool, deleted_by_finalize=bool)
MISUSE = dict(times=COUNT, places=COUNTS, what=str, rule=str)
MADE = dict(kind=str, place=str, made=COUNT, freed=COUNT)
SUMMARY = dict(keyvals=[KEYVAL], attached=[ATTACHED], made=[MADE], most_alive=COUNTS)
SUMMARY.update(seconds=float, misuse={"*": MISUSE}, not_served=COUNTS)
RANK = dict(SUMMARY, rank=COUNT, host=str, pid=COUNT, partial=bool, finalized=bool)
REPORT = dict(format=int, attrcache=str, mpi=str, kinds={"*": str}, command=str, job=str, started=str)
REPORT.update(exit_code=(int, type(None)), ranks=COUNT, ranks_heard_of=COUNT, worlds=[COUNT])
REPORT.update(missing=[dict(rank=COUNT, host=str)], hosts=[str], finalized=bool, checked=bool)
REPORT.update(per_rank=[RANK], sum=SUMMARY)


def checked(name, found, type_):
    """A value, if it is of its type, or Bad. Objects keep only the members that their type names."""
    if isinstance(type_, list) and isinstance(found, list):
        return [checked(name, one, type_[0]) for one in found]
    if isinstance(type_, dict) and isinstance(found, dict):
        members = dict.fromkeys(found, type_["*"]) if "*" in type_ else type_
        for member in members:
            if member not in found:
                raise Bad(f'there is no "{member}"')
        return {printable(name): checked(name, found[name], of) for name, of in members.items()}
    if type_ in (COUNT, float):
        is_one = type(found) in ((int,) if type_ is COUNT else (int, float)) and 0 <= found < MOST
    else:
        is_one = type(found) in (type_ if isinstance(type_, tuple) else (type_,))
    if not is_one:
        raise Bad(f'"{name}" is {json.dumps(found)[:40]}')
    return printable(found) if isinstance(found, str) else found


# ---- Names ----

# Most keyvals and objects are of this kind, so that their lines don't name it.
USUAL_KIND = "communicator"


def key_of(line):
    """What makes a keyval's line the same in two summaries."""
    return line["kind"], line["library"], line["function"], line["named_by"]


def origin(line):
    if not line["function"]:
        return line["library"] or "(unknown)"
    return line["library"] + ("" if line["function"].startswith("+") else ": ") + line["function"]


def title(line):
    made = " (made there)" if line["named_by"] == "caller" else ""
    return origin(line) + made + ("" if line["kind"] == USUAL_KIND else f" [{line['kind']}]")


def sums(lines):
    return {name: sum(line[name] for line in lines) for name in NUMBERS}
