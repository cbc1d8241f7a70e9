# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads reports as JSON (lib/mpi/README.md has their members).

A report comes from a file that anybody may have written, so everything that is used later is
looked at here: a report that read() returns has the members below, with these types.
"""

import json

FORMAT = 1

# The numbers of a keyval's line, in the order in which the page has them.
NUMBERS = [
    "created",
    "freed",
    "leaked",
    "sets",
    "gets",
    "absent",
    "deletes",
    "copies",
    "deleted_with_object",
    "attached",
    "copy_calls",
    "delete_calls",
    "failed",
    "callback_ns",
    "callback_own_ns",
]
TIMES = ["callback_ns", "callback_own_ns"]
# What a kind of objects is called in the names of its functions; of reports that don't say it.
KINDS = {"communicator": "Comm", "datatype": "Type", "window": "Win"}
# What ends an object of a kind for which MPI itself has no attributes.
ENDS = {"session": "MPI_Session_finalize", "file": "MPI_File_close"}

# Counters are 64 bits wide.
MOST = 2**64


class Bad(Exception):
    """What is wrong with a file, as a sentence for people."""


def loaded(data, name):
    """What JSON says."""
    try:
        return json.loads(data.decode())
    except UnicodeDecodeError:
        raise Bad(f"{name} is no JSON: it is not in UTF-8") from None
    except RecursionError:
        raise Bad(f"{name} is no report: its JSON is nested too deeply") from None
    except ValueError as error:
        raise Bad(f"{name} is no JSON: {error}") from None


def read(path):
    """The report in a file, with every member that the page uses."""
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


def get(part, name, type_, default=None):
    value = part.get(name, default)
    if value is None:
        raise Bad(f'there is no "{name}"')
    if type_ is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(min(max(value, -MOST), MOST))
    if not isinstance(value, type_) or (type_ is int and isinstance(value, bool)):
        raise Bad(f'"{name}" is {json.dumps(value)[:40]}')
    if type_ is float and not 0 <= value < MOST:
        raise Bad(f'"{name}" is {value}')
    return value


def count(part, name, default=None):
    value = get(part, name, int, default)
    if not 0 <= value < MOST:
        raise Bad(f'"{name}" is {value}')
    return value


def objects(part, name, default=None):
    """A list of objects."""
    items = get(part, name, list, default)
    if not all(isinstance(item, dict) for item in items):
        raise Bad(f'"{name}" has an entry that is no object')
    return items


def kinds(part):
    """{"communicator": "Comm", ...}"""
    found = get(part, "kinds", dict, KINDS)
    if not found or not all(isinstance(name, str) and name.isalnum() for name in found.values()):
        raise Bad(f'"kinds" is {json.dumps(found)[:40]}')
    return found


def kind(part, known):
    if get(part, "kind", str) not in known:
        raise Bad(f'"kind" is {part["kind"]!r:.40}')
    return part["kind"]


def checked(report):
    known = kinds(report)
    result = {
        "attrcache": get(report, "attrcache", str),
        "mpi": get(report, "mpi", str),
        "kinds": known,
        "command": get(report, "command", str, ""),
        "ranks": count(report, "ranks"),
        "ranks_heard_of": count(report, "ranks_heard_of"),
        "finalized": get(report, "finalized", bool),
        "checked": get(report, "checked", bool, False),
        "sum": summary(get(report, "sum", dict), known),
        "per_rank": [],
    }
    for part in objects(report, "per_rank", []):
        one = summary(part, known)
        one.update(rank=count(part, "rank"), host=get(part, "host", str), pid=count(part, "pid"))
        one["finalized"] = get(part, "finalized", bool, result["finalized"])
        one["partial"] = get(part, "partial", bool, False)
        result["per_rank"].append(one)
    result["per_rank"].sort(key=lambda one: one["rank"])
    return result


def summary(part, known):
    return {
        "seconds": get(part, "seconds", float),
        "keyvals": [keyval(one, known) for one in objects(part, "keyvals")],
        "attached": [attached(one, known) for one in objects(part, "attached")],
        "objects": [left_object(one, known) for one in objects(part, "objects", [])],
        "misuse": misuse(get(part, "misuse", dict)),
        "not_served": {name: count(get(part, "not_served", dict, {}), name, 0) for name in known},
    }


def keyval(part, known):
    one = {name: count(part, name, 0) for name in NUMBERS}
    one.update(
        kind=kind(part, known),
        library=get(part, "library", str),
        function=get(part, "function", str),
        named_by=get(part, "named_by", str, "callback"),
        made_at=get(part, "made_at", str, ""),
        last_failure=get(part, "last_failure", int, 0),
    )
    return one


def attached(part, known):
    return {
        "kind": kind(part, known),
        "object": get(part, "object", str),
        "library": get(part, "library", str),
        "function": get(part, "function", str),
        "attributes": count(part, "attributes"),
        "predefined": get(part, "predefined", bool, False),
        "deleted_by_finalize": get(part, "deleted_by_finalize", bool, False),
    }


def left_object(part, known):
    return {
        "kind": kind(part, known),
        "object": get(part, "object", str),
        "from": get(part, "from", str, "use"),
        "place": get(part, "place", str, ""),
        "count": count(part, "count"),
    }


def misuse(part):
    result = {}
    for name, one in part.items():
        if not isinstance(one, dict):
            raise Bad(f'"{name}" is no object')
        places = get(one, "places", dict, {})
        result[name] = {
            "times": count(one, "times"),
            "places": {place: count(places, place) for place in places},
            "what": get(one, "what", str, ""),
            "rule": get(one, "rule", str, ""),
        }
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
