# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the reports that the interposer writes as JSON (lib/mpi/README.md documents their members).

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
KINDS = ["communicator", "datatype", "window"]

# Counters are 64 bits wide.
MOST = 2**64


class Bad(Exception):
    """What is wrong with a file, as a sentence for people."""


def read(path):
    """The report in a file, with every member that the page uses."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except OSError as error:
        raise Bad(f"{path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Bad(f"{path} is no JSON: it is not in UTF-8") from None
    except RecursionError:
        raise Bad(f"{path} is no report: its JSON is nested too deeply") from None
    except ValueError as error:
        raise Bad(f"{path} is no JSON: {error}") from None
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


def kind(part):
    if get(part, "kind", str) not in KINDS:
        raise Bad(f'"kind" is {part["kind"]!r:.40}')
    return part["kind"]


def checked(report):
    ranks = count(report, "ranks")
    result = {
        "attrcache": get(report, "attrcache", str),
        "mpi": get(report, "mpi", str),
        "ranks": ranks,
        "ranks_heard_of": count(report, "ranks_heard_of"),
        "finalized": get(report, "finalized", bool),
        "checked": get(report, "checked", bool, False),
        "sum": summary(get(report, "sum", dict)),
        "per_rank": [],
    }
    for part in objects(report, "per_rank", []):
        one = summary(part)
        one.update(rank=count(part, "rank"), host=get(part, "host", str), pid=count(part, "pid"))
        result["per_rank"].append(one)
    result["per_rank"].sort(key=lambda one: one["rank"])
    return result


def summary(part):
    return {
        "seconds": get(part, "seconds", float),
        "keyvals": [keyval(one) for one in objects(part, "keyvals")],
        "attached": [attached(one) for one in objects(part, "attached")],
        "objects": [left_object(one) for one in objects(part, "objects", [])],
        "misuse": misuse(get(part, "misuse", dict)),
        "not_served": {name: count(get(part, "not_served", dict, {}), name, 0) for name in KINDS},
    }


def keyval(part):
    one = {name: count(part, name, 0) for name in NUMBERS}
    one.update(
        kind=kind(part),
        library=get(part, "library", str),
        function=get(part, "function", str),
        named_by=get(part, "named_by", str, "callback"),
        made_at=get(part, "made_at", str, ""),
        last_failure=get(part, "last_failure", int, 0),
    )
    return one


def attached(part):
    return {
        "kind": kind(part),
        "object": get(part, "object", str),
        "library": get(part, "library", str),
        "function": get(part, "function", str),
        "attributes": count(part, "attributes"),
        "predefined": get(part, "predefined", bool, False),
        "deleted_by_finalize": get(part, "deleted_by_finalize", bool, False),
    }


def left_object(part):
    return {
        "kind": kind(part),
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


# ---- Several reports as one ----


def key_of(line):
    return line["kind"], line["library"], line["function"], line["named_by"]


def merged(reports):
    """One report of those that processes without MPI_Finalize wrote for themselves."""
    if len(reports) == 1:
        return reports[0]
    per_rank = sorted(
        (part for report in reports for part in report["per_rank"]),
        key=lambda part: (part["rank"], part["pid"]),
    )
    result = dict(reports[0])
    result.update(
        ranks=max([report["ranks"] for report in reports] + [len({p["rank"] for p in per_rank})]),
        ranks_heard_of=len(per_rank),
        finalized=all(report["finalized"] for report in reports),
        checked=any(report["checked"] for report in reports),
        per_rank=per_rank,
        sum=added(per_rank),
    )
    return result


def added(parts):
    """The sum of summaries, as the interposer makes it."""
    lines, left, things, misuses = {}, {}, {}, {}
    not_served = dict.fromkeys(KINDS, 0)
    for part in parts:
        for one in part["keyvals"]:
            line = lines.setdefault(
                key_of(one), dict(one, **dict.fromkeys(NUMBERS, 0), last_failure=0)
            )
            for name in NUMBERS:
                line[name] += one[name]
            line["last_failure"] = one["last_failure"] or line["last_failure"]
            line["made_at"] = line["made_at"] or one["made_at"]
        for one in part["attached"]:
            key = tuple(one[name] for name in sorted(one) if name != "attributes")
            left.setdefault(key, dict(one, attributes=0))["attributes"] += one["attributes"]
        for one in part["objects"]:
            key = tuple(one[name] for name in sorted(one) if name != "count")
            things.setdefault(key, dict(one, count=0))["count"] += one["count"]
        for name, one in part["misuse"].items():
            total = misuses.setdefault(name, dict(one, times=0, places={}))
            total["times"] += one["times"]
            for place, times in one["places"].items():
                total["places"][place] = total["places"].get(place, 0) + times
        for name in KINDS:
            not_served[name] += part["not_served"][name]

    def use(line):
        return sum(
            line[name] for name in ("sets", "gets", "absent", "deletes", "copies", "created")
        )

    return {
        "seconds": max((part["seconds"] for part in parts), default=0.0),
        "keyvals": sorted(lines.values(), key=lambda line: -use(line)),
        "attached": sorted(left.values(), key=lambda one: -one["attributes"]),
        "objects": sorted(things.values(), key=lambda one: -one["count"]),
        "misuse": misuses,
        "not_served": not_served,
    }
