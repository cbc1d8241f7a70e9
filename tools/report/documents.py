# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes one report of what the ranks have handed over, a JSON document each (lib/mpi/README.md)."""

import datetime
import json

import places
import reading
import trace
from reading import Bad

FORMAT = 1
# What a rank hands over, besides its trace.
DOCUMENT = dict(reading.RANK, ns=reading.COUNT, ranks=reading.COUNT, attrcache=str, mpi=str)
DOCUMENT.update(checked=bool, begun=(reading.COUNT, 0), world=(str, ""), addresses=({}, {}))


def read(data):
    """A document with all members that are used later, or Bad."""
    part = reading.loaded(data, "what a rank has handed over")
    if not isinstance(part, dict) or part.get("document") != FORMAT:
        raise Bad("what a rank has handed over is no document of this version")
    try:
        kinds = reading.kinds(part)
        one = reading.taken(dict(part, seconds=0), DOCUMENT, kinds)
        one.update(seconds=one.pop("ns") / 1e9, kinds=kinds)
        del one["addresses"]
        lines = places.lines(part.get("addresses", {}))
        one["trace"] = trace.of_rank(part.get("trace"), list(kinds))
    except (Bad, ValueError, TypeError, KeyError, IndexError) as error:
        raise Bad(f"what a rank has handed over is damaged: {error}") from None
    return located(one, lines)


def located(part, lines):
    """The same with places as file and line, where these are known."""

    def named(counts):
        there = {}
        for place, times in counts.items():
            name = lines.get(place, place)
            there[name] = there.get(name, 0) + times
        return there

    for line in part["keyvals"]:
        line["made_at"] = lines.get(line["made_at"], line["made_at"])
        line["leaked_at"] = named(line["leaked_at"])
    for one in part["objects"]:
        one["place"] = lines.get(one["place"], one["place"])
    for one in part["misuse"].values():
        one["places"] = named(one["places"])
    return part


def numbered(parts, heard):
    """Numbers ranks through all MPI_COMM_WORLDs (of MPI_Comm_spawn, or of a command that runs several
    programs). Returns the sizes of these, and the ranks that are missing. `heard` are those that said
    hello, and nothing later: [rank, size, host]."""
    worlds = {}
    for part in sorted(parts, key=lambda part: (part["rank"], part["begun"], part["pid"])):
        # Worlds without a name, or with the same one, differ by ranks that come again.
        copies = worlds.setdefault((part["world"], part["ranks"]), [])
        free = [world for world in copies if part["rank"] not in world]
        if not free:
            free = [{}]
            copies += free
        free[0][part["rank"]] = part
    sizes, missing, total = [], [], 0
    alone = sum(map(len, worlds.values())) == 1
    ordered = [(size, world) for (_, size), copies in worlds.items() for world in copies]
    for size, world in sorted(ordered, key=lambda one: min(map(rank_0, one[1].values()))):
        for rank, part in world.items():
            part["rank"] = total + rank
            del part["ranks"], part["world"]
        for rank in sorted(set(range(min(size, MOST_MISSING))) - set(world)):
            hosts = [host for number, of, host in heard if (number, of) == (rank, size) and alone]
            missing.append({"rank": total + rank, "host": hosts[0] if hosts else ""})
        total += max(size, 1)
        sizes.append(max(size, 1))
    return sizes, missing


# Of a larger world, ranks above this one are not named where they are missing.
MOST_MISSING = 100_000


def rank_0(part):
    """What sorts worlds: the one that began first comes first."""
    return part["begun"], part["pid"]


def started(parts):
    begun = min((part["begun"] for part in parts if part["begun"]), default=0)
    if not begun:
        return ""
    return datetime.datetime.fromtimestamp(begun / 1e9).astimezone().isoformat(" ", "seconds")


def merged(parts, run):
    """The report of some documents, which are sorted and changed; and their traces by rank. `run` is
    what is known of the run: "command", "job", "exit_code", and "heard" (numbered)."""
    worlds, missing = numbered(parts, run.get("heard", ()))
    parts.sort(key=lambda part: part["rank"])
    kinds = dict(pair for part in parts for pair in part.pop("kinds").items())
    report = dict(
        attrcache=parts[0]["attrcache"],
        mpi=parts[0]["mpi"],
        kinds=kinds,
        **reading.taken(run, reading.RUN, kinds),
        ranks=sum(worlds),
        ranks_heard_of=len(parts),
        worlds=worlds,
        missing=missing,
        hosts=sorted({part["host"] for part in parts} | {one["host"] for one in missing} - {""}),
        finalized=all(part["finalized"] for part in parts),
        checked=any(part.pop("checked") for part in parts),
        per_rank=parts,
        sum=added(parts, kinds),
    )
    report["started"] = report["started"] or started(parts)
    traces = {}
    for part in parts:
        del part["attrcache"], part["mpi"]
        begun = part.pop("begun")
        ended = begun and begun + round(part["seconds"] * 1e9)
        traces[part["rank"]] = trace.Of(part["host"], part["pid"], ended, part.pop("trace"))
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

    def add_places(to, counts):
        for place, times in counts.items():
            to[place] = to.get(place, 0) + times

    for part in parts:
        for one in part["keyvals"]:
            line = lines.setdefault(
                reading.key_of(one),
                dict(one, **dict.fromkeys(reading.NUMBERS, 0), last_failure=0, leaked_at={}),
            )
            for name in reading.NUMBERS:
                line[name] += one[name]
            add_places(line["leaked_at"], one["leaked_at"])
            line["has_delete_fn"] |= one["has_delete_fn"]
            line["last_failure"] = one["last_failure"] or line["last_failure"]
            line["made_at"] = line["made_at"] or one["made_at"]
        for one in part["attached"]:
            add(left, one, "attributes")
        for one in part["objects"]:
            add(things, one, "count")
        for name, one in part["misuse"].items():
            total = misuses.setdefault(name, dict(one, times=0, places={}))
            total["times"] += one["times"]
            add_places(total["places"], one["places"])
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
