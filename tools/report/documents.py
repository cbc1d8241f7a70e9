# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes one report of what the ranks have handed over, a JSON document each (lib/mpi/README.md)."""

import collections
import datetime

import places
import reading
import trace
from reading import COUNT, Bad
from words import printable

FORMAT = 1
# What a rank hands over, besides its trace.
DOCUMENT = dict(reading.RANK, ns=COUNT, ranks=COUNT, attrcache=str, mpi=str, kinds={"*": str})
DOCUMENT.update(checked=bool, begun=COUNT, world=str, addresses={"*": list})


def read(data, locates=True):
    """A document with all members that are used later, or Bad. `locates`: with places as file and line."""
    part = reading.loaded(data, "what a rank has handed over")
    if not isinstance(part, dict) or part.get("document") != FORMAT:
        raise Bad("what a rank has handed over is no document of this version")
    try:
        one = reading.checked("document", dict(part, seconds=0), DOCUMENT)
        one["seconds"] = one.pop("ns") / 1e9
        addresses = one.pop("addresses")
        lines = places.lines(addresses if locates else {})
        one["trace"] = trace.of_rank(part.get("trace"), list(one["kinds"]))
    except (Bad, ValueError, TypeError, KeyError, IndexError) as error:
        raise Bad(f"what a rank has handed over is damaged: {error}") from None
    return located(one, lines)


def located(part, lines):
    """The same with places as file and line, where these are known."""

    def named(counts):
        there = collections.Counter()
        for place, times in counts.items():
            there[lines.get(place, place)] += times
        return there

    for line in part["keyvals"]:
        line["made_at"] = lines.get(line["made_at"], line["made_at"])
        line["leaked_at"] = named(line["leaked_at"])
    for one in part["made"]:
        one["place"] = lines.get(one["place"], one["place"])
    for one in part["misuse"].values():
        one["places"] = named(one["places"])
    return part


# Of a larger world, ranks above this one are not named where they are missing.
MOST_MISSING = 100_000


def begun(part):
    return part["begun"], part["pid"]


def numbered(parts, heard):
    """Numbers the ranks on from one MPI_COMM_WORLD to the next (of MPI_Comm_spawn, or of a command
    that runs several programs), in the order in which these began. Returns the worlds' sizes, and the
    missing ranks. `heard` has those that said hello, and nothing later: [rank, size, host]."""
    worlds = collections.defaultdict(list)
    for part in sorted(parts, key=begun):
        # Worlds without a name, or with the same one, differ by ranks that come again.
        copies = worlds[part.pop("world"), part.pop("ranks")]
        world = next((one for one in copies if part["rank"] not in one), None)
        if world is None:
            world = {}
            copies.append(world)
        world[part["rank"]] = part
    ordered = [(size, world) for (_, size), copies in worlds.items() for world in copies]
    ordered.sort(key=lambda one: min(map(begun, one[1].values())))
    sizes, missing = [], []
    for size, world in ordered:
        first = sum(sizes)
        for rank in sorted(set(range(min(size, MOST_MISSING))) - set(world)):
            # Of several worlds, which one said hello isn't known.
            hosts = [host for *one, host in heard if one == [rank, size] and len(ordered) == 1]
            missing.append({"rank": first + rank, "host": hosts[0] if hosts else ""})
        for part in world.values():
            part["rank"] += first
        sizes.append(max(size, 1))
    return sizes, missing


def merged(parts, run):
    """The report of some documents, which are sorted and changed; and their trace. `run` is what is
    known of the run: "command", "job", "exit_code", and "heard" (numbered)."""
    worlds, missing = numbered(parts, run.get("heard", ()))
    parts.sort(key=lambda part: part["rank"])
    started = datetime.datetime.fromtimestamp(min(part["begun"] for part in parts) / 1e9)
    report = dict(
        format=reading.FORMAT,
        attrcache=parts[0]["attrcache"],
        mpi=parts[0]["mpi"],
        kinds={kind: name for part in parts for kind, name in part.pop("kinds").items()},
        command=printable(run.get("command", "")),
        job=printable(run.get("job", "")),
        started=started.astimezone().isoformat(" ", "seconds"),
        exit_code=run.get("exit_code"),
        ranks=sum(worlds),
        ranks_heard_of=len(parts),
        worlds=worlds,
        missing=missing,
        hosts=sorted({part["host"] for part in parts} | {one["host"] for one in missing} - {""}),
        finalized=all(part["finalized"] for part in parts),
        checked=any([part.pop("checked") for part in parts]),
    )
    trace_ = trace.joined(parts)
    for part in parts:
        del part["attrcache"], part["mpi"], part["begun"], part["trace"]
    return dict(report, sum=added(parts), per_rank=parts), trace_


# From so many names of objects on, the rest have one name together, which is among them.
MOST_NAMES = 1001
OTHERS = "(others)"


def attached(parts):
    """Entries that are alike as one, with the sum of their attributes."""

    def key_of(one):
        return tuple(value for name, value in sorted(one.items()) if name != "attributes")

    found = {}
    for one in (one for part in parts for one in part["attached"]):
        if len(found) >= MOST_NAMES and not one["predefined"] and key_of(one) not in found:
            one = dict(one, object=OTHERS)
        found.setdefault(key_of(one), dict(one, attributes=0))["attributes"] += one["attributes"]
    return found.values()


def keyvals(parts):
    lines = {}
    for one in (one for part in parts for one in part["keyvals"]):
        line = lines.get(reading.key_of(one))
        if line is None:
            lines[reading.key_of(one)] = dict(one, leaked_at=collections.Counter(one["leaked_at"]))
            continue
        for name in reading.NUMBERS:
            line[name] += one[name]
        line["leaked_at"].update(one["leaked_at"])
        line["has_delete_fn"] |= one["has_delete_fn"]
        line["last_failure"] = one["last_failure"] or line["last_failure"]
        line["made_at"] = line["made_at"] or one["made_at"]
    return lines.values()


def made(parts):
    """What was made at each place, by all; the most that are alive first."""
    found = {}
    for one in (one for part in parts for one in part["made"]):
        total = found.setdefault((one["kind"], one["place"]), dict(one, made=0, freed=0))
        total["made"] += one["made"]
        total["freed"] += one["freed"]
    return sorted(found.values(), key=lambda one: (one["freed"] - one["made"], one["place"]))


def added(parts):
    """The sum of summaries, what was used most first."""
    misuses, not_served = {}, collections.Counter()
    for part in parts:
        not_served.update(part["not_served"])
        for name, one in part["misuse"].items():
            total = misuses.setdefault(name, dict(one, times=0, places=collections.Counter()))
            total["times"] += one["times"]
            total["places"].update(one["places"])

    def use(line):
        names = ("sets", "gets", "absent", "deletes", "copies", "created")
        return sum(line[name] for name in names)

    return {
        "seconds": max(part["seconds"] for part in parts),
        "keyvals": sorted(keyvals(parts), key=lambda line: (-use(line), reading.origin(line))),
        "attached": sorted(
            attached(parts),
            key=lambda one: (one["deleted_by_finalize"], -one["attributes"], one["object"]),
        ),
        "made": made(parts),
        "most_alive": {
            kind: max(part["most_alive"].get(kind, 0) for part in parts)
            for kind in sorted({kind for part in parts for kind in part["most_alive"]})
        },
        "misuse": misuses,
        "not_served": not_served,
    }
