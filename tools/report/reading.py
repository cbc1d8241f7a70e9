# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads reports as JSON (lib/mpi/README.md has their members).

A report comes from a file that anybody may have written, so everything that is used later is
checked here: a report that read() returns has the members below, with these types.
"""

import json

FORMAT = 1

# The numbers of a keyval's line, and what people call them.
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
TIMES = ["callback_ns", "callback_own_ns"]
# What a kind of object is called in the names of its functions; of reports that don't say it.
KINDS = {"communicator": "Comm", "datatype": "Type", "window": "Win"}
# What ends an object of a kind for which MPI itself has no attributes.
ENDS = {"session": "MPI_Session_finalize", "file": "MPI_File_close"}

# Counters are 64 bits wide.
MOST = 2**64


class Bad(Exception):
    """What is wrong with a file, as a sentence for people."""


def loaded(data, name):
    """The value of a JSON text."""
    try:
        return json.loads(data.decode())
    except UnicodeDecodeError:
        raise Bad(f"{name} is no JSON: it is not in UTF-8") from None
    except RecursionError:
        raise Bad(f"{name} is no report: its JSON is nested too deeply") from None
    except ValueError as error:
        raise Bad(f"{name} is no JSON: {error}") from None


def read(path):
    """The report in a file, with every member that is used."""
    try:
        with open(path, "rb") as file:
            report = loaded(file.read(), path)
    except OSError as error:
        raise Bad(f"{path} can't be read: {error.strerror}") from None
    if not isinstance(report, dict) or "format" not in report or "sum" not in report:
        raise Bad(f"{path} is no report of attrcache-run --report=FILE.json")
    if report["format"] != FORMAT:
        raise Bad(
            f"{path} is a report of format {str(report['format'])[:20]}, but this attrcache-run reads "
            f"format {FORMAT}"
        )
    try:
        return checked(report)
    except Bad as error:
        raise Bad(f"{path} is a damaged report: {error}") from None


# ---- The members of a report ----

# What a member may be: a type, one of these, a table of members, or a list of one of them; in a pair
# with its value if it is missing.
COUNT, PLACES, KIND, OF_KINDS, NAMED_MISUSE = "a count", "places", "a kind", "of kinds", "misuse"

KEYVAL = dict(kind=KIND, library=str, function=str, named_by=(str, "callback"), made_at=(str, ""))
KEYVAL.update(has_delete_fn=(bool, True), leaked_at=(PLACES, {}), last_failure=(int, 0))
KEYVAL.update(dict.fromkeys(NUMBERS, (COUNT, 0)))
ATTACHED = dict(kind=KIND, object=str, library=str, function=str, attributes=COUNT)
ATTACHED.update(predefined=(bool, False), deleted_by_finalize=(bool, False))
OBJECT = dict(kind=KIND, object=str, place=(str, ""), count=COUNT, **{"from": (str, "use")})
MISUSE = dict(times=COUNT, places=(PLACES, {}), what=(str, ""), rule=(str, ""))
SUMMARY = dict(seconds=float, keyvals=[KEYVAL], attached=[ATTACHED], objects=([OBJECT], []))
SUMMARY.update(misuse=NAMED_MISUSE, not_served=(OF_KINDS, {}))
RANK = dict(SUMMARY, rank=COUNT, host=str, pid=COUNT, partial=(bool, False), finalized=(bool, True))
RUN = dict(command=(str, ""), job=(str, ""), started=(str, ""), exit_code=(int, None))
REPORT = dict(RUN, attrcache=str, mpi=str, ranks=COUNT, ranks_heard_of=COUNT, finalized=bool)
REPORT.update(worlds=([COUNT], []), missing=([dict(rank=COUNT, host=(str, ""))], []))
REPORT.update(hosts=([str], []), checked=(bool, False), sum=SUMMARY, per_rank=([RANK], []))


def taken(part, members, kinds):
    """The members of an object, each of its type; or Bad."""
    result = {}
    for name, type_ in members.items():
        type_, *default = type_ if isinstance(type_, tuple) else (type_,)
        found = part.get(name)
        if found is None and not default:
            raise Bad(f'there is no "{name}"')
        known = found is not None or default[0] is not None
        result[name] = (
            of_type(name, default[0] if found is None else found, type_, kinds) if known else None
        )
    return result


def of_type(name, found, type_, kinds):
    """A value, if it is of its type."""
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    if isinstance(type_, list) and isinstance(found, list):
        return [of_type(name, one, type_[0], kinds) for one in found]
    if isinstance(found, dict):
        if isinstance(type_, dict):
            return taken(found, type_, kinds)
        if type_ is PLACES:
            return {place: of_type(name, times, COUNT, kinds) for place, times in found.items()}
        if type_ is OF_KINDS:
            return {kind: of_type(name, found.get(kind, 0), COUNT, kinds) for kind in kinds}
        if type_ is NAMED_MISUSE:
            return {sort: of_type(sort, one, MISUSE, kinds) for sort, one in found.items()}
    elif type_ is float and is_number and 0 <= found < MOST:
        return float(found)
    elif type_ is COUNT and type(found) is int and 0 <= found < MOST:
        return found
    elif type_ is KIND and isinstance(found, str) and found in kinds:
        return found
    elif type_ in (str, bool, int) and type(found) is type_:
        return found
    raise Bad(f'"{name}" is {json.dumps(found)[:40]}')


def kinds(part):
    """{"communicator": "Comm", ...}"""
    found = part.get("kinds", KINDS)
    are_names = isinstance(found, dict) and all(
        isinstance(name, str) and name.isalnum() for name in found.values()
    )
    if not found or not are_names:
        raise Bad(f'"kinds" is {json.dumps(found)[:40]}')
    return found


def checked(report):
    known = kinds(report)
    result = dict(taken(report, REPORT, known), kinds=known)
    result["per_rank"].sort(key=lambda one: one["rank"])
    return result


# ---- Names ----


def key_of(line):
    """What makes a keyval's line the same in two summaries."""
    return line["kind"], line["library"], line["function"], line["named_by"]


def origin(line):
    if not line["function"]:
        return line["library"] or "(unknown)"
    return line["library"] + ("" if line["function"].startswith("+") else ": ") + line["function"]


def title(line):
    made = " (made there)" if line["named_by"] == "caller" else ""
    return origin(line) + made + ("" if line["kind"] == next(iter(KINDS)) else f" [{line['kind']}]")


def sums(lines):
    return {name: sum(line[name] for line in lines) for name in NUMBERS}
