# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes one report of what the ranks have handed over, a JSON document each (lib/mpi/README.md)."""

import json

import places
import reading
import timeline
from reading import Bad

FORMAT = 1


def read(data):
    """A document with all members that are used later, or Bad."""
    part = reading.loaded(data, "what a rank has handed over")
    if not isinstance(part, dict) or part.get("document") != FORMAT:
        raise Bad("what a rank has handed over is no document of this version")
    try:
        kinds = reading.kinds(part)
        one = reading.summary(dict(part, seconds=reading.count(part, "ns") / 1e9), kinds)
        one.update(
            rank=reading.count(part, "rank"),
            ranks=reading.count(part, "ranks"),
            host=reading.get(part, "host", str),
            pid=reading.count(part, "pid"),
            finalized=reading.get(part, "finalized", bool),
            partial=reading.get(part, "partial", bool),
            head={name: reading.get(part, name, str) for name in ("attrcache", "mpi")},
            checked=reading.get(part, "checked", bool),
            kinds=kinds,
        )
        lines = places.lines(reading.get(part, "addresses", dict, {}))
        one["trace"] = timeline.of_rank(part.get("trace"), list(kinds))
    except (Bad, ValueError, TypeError, KeyError, IndexError) as error:
        raise Bad(f"what a rank has handed over is damaged: {error}") from None
    return located(one, lines)


def located(part, lines):
    """The same with places as file and line, where these are known."""
    for line in part["keyvals"]:
        line["made_at"] = lines.get(line["made_at"], line["made_at"])
    for one in part["objects"]:
        one["place"] = lines.get(one["place"], one["place"])
    for one in part["misuse"].values():
        there = {}
        for place, times in one["places"].items():
            name = lines.get(place, place)
            there[name] = there.get(name, 0) + times
        one["places"] = there
    return part


def numbered(parts):
    """Numbers ranks through, and says how many there are. A rank that comes again belongs to another
    MPI_COMM_WORLD (of MPI_Comm_spawn, or of a command that runs several programs)."""
    worlds, offset = {}, {}
    for part in sorted(parts, key=lambda part: (part["rank"], part["pid"])):
        copies = worlds.setdefault(part["ranks"], [])
        free = [world for world in copies if part["rank"] not in {one["rank"] for one in world}]
        (free[0] if free else copies.append([]) or copies[-1]).append(part)
    total = 0
    for size, copies in worlds.items():
        for world in copies:
            offset.update((id(part), total) for part in world)
            total += max(size, 1)
    for part in parts:
        part["rank"] += offset[id(part)]
        del part["ranks"]
    return total


def merged(parts, command):
    """The report of some documents, which are sorted and changed; and their traces by rank."""
    ranks = numbered(parts)
    parts.sort(key=lambda part: part["rank"])
    kinds = dict(pair for part in parts for pair in part.pop("kinds").items())
    report = dict(
        parts[0]["head"],
        kinds=kinds,
        command=command,
        ranks=ranks,
        ranks_heard_of=len(parts),
        finalized=all(part["finalized"] for part in parts),
        checked=any(part.pop("checked") for part in parts),
        per_rank=parts,
        sum=added(parts, kinds),
    )
    traces = {part["rank"]: (part["host"], part["pid"], part.pop("trace")) for part in parts}
    for part in parts:
        del part["head"]
    return report, traces


# From so many names of objects on, the rest have one name together, which is among them.
MOST_NAMES = 1001
OTHERS = "(others)"


def added(parts, kinds):
    """The sum of summaries, what was used most first."""
    lines, left, things, misuses = {}, {}, {}, {}
    not_served = dict.fromkeys(kinds, 0)

    def add(to, one, number):
        if "predefined" not in one or not one["predefined"]:
            if len(to) >= MOST_NAMES and entry(one, number) not in to:
                one = dict(one, object=OTHERS)
        to.setdefault(entry(one, number), dict(one, **{number: 0}))[number] += one[number]

    def entry(one, number):
        return tuple(one[name] for name in sorted(one) if name != number)

    for part in parts:
        for one in part["keyvals"]:
            line = lines.setdefault(
                reading.key_of(one), dict(one, **dict.fromkeys(reading.NUMBERS, 0), last_failure=0)
            )
            for name in reading.NUMBERS:
                line[name] += one[name]
            line["last_failure"] = one["last_failure"] or line["last_failure"]
            line["made_at"] = line["made_at"] or one["made_at"]
        for one in part["attached"]:
            add(left, one, "attributes")
        for one in part["objects"]:
            add(things, one, "count")
        for name, one in part["misuse"].items():
            total = misuses.setdefault(name, dict(one, times=0, places={}))
            total["times"] += one["times"]
            for place, times in one["places"].items():
                total["places"][place] = total["places"].get(place, 0) + times
        for name, number in part["not_served"].items():
            not_served[name] += number

    def use(line):
        names = ("sets", "gets", "absent", "deletes", "copies", "created")
        return sum(line[name] for name in names)

    return {
        "seconds": max((part["seconds"] for part in parts), default=0.0),
        "keyvals": sorted(lines.values(), key=lambda line: (-use(line), reading.origin(line))),
        "attached": sorted(
            left.values(),
            key=lambda one: (one["deleted_by_finalize"], -one["attributes"], one["object"]),
        ),
        "objects": sorted(
            things.values(), key=lambda one: (-one["count"], one["place"], one["object"])
        ),
        "misuse": misuses,
        "not_served": not_served,
    }


def as_json(report):
    """The report as a file for tools, a line for each entry."""

    def compact(value):
        return json.dumps(value, ensure_ascii=False)

    def members(part):
        for name, value in part.items():
            if isinstance(value, list) and value:
                yield compact(name) + ": [\n" + ",\n".join(map(compact, value)) + "]"
            else:
                yield compact(name) + ": " + compact(value)

    def thing(part):
        return "{\n" + ",\n".join(members(part)) + "}"

    head = {name: value for name, value in report.items() if name not in ("sum", "per_rank")}
    parts = ",\n".join(map(thing, report["per_rank"]))
    return (
        "{\n"
        + ",\n".join(members(dict(format=reading.FORMAT, **head)))
        + f',\n"sum": {thing(report["sum"])},\n"per_rank": [\n{parts}]\n}}\n'
    )
