# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a page holds: a report, aggregated so that thousands of ranks fit into it."""

import datetime

import reading
from reading import ENDS, NUMBERS
from spread import spread

# How many of a kind of entry a page has at most. The rest is summed, and the page says so. A page
# that would be too heavy has a share of these only.
MOST_LINES = 2000
MOST_EVENTS = 20_000
MOST_ATTACHED = 1500
MOST_OBJECTS = 1500
MOST_PLACES = 400
# How many names of objects from one place.
NAMES = 20

# What is told of each rank, besides its seconds.
OF_RANKS = NUMBERS + ["misuse", "objects"]


def numbers_of(part):
    """A rank's numbers, summed over its keyvals."""
    numbers = {name: sum(line[name] for line in part["keyvals"]) for name in NUMBERS}
    numbers["misuse"] = sum(one["times"] for one in part["misuse"].values())
    numbers["objects"] = sum(one["count"] for one in part["objects"])
    return numbers


def column(values):
    """The values of all ranks; only one if they are all the same."""
    return values[0] if values and all(value == values[0] for value in values) else values


def ranks(per_rank):
    parts = [numbers_of(part) for part in per_rank]
    hosts = sorted({part["host"] for part in per_rank})
    place = {host: i for i, host in enumerate(hosts)}
    columns = {name: [part[name] for part in parts] for name in OF_RANKS}
    columns["seconds"] = [part["seconds"] for part in per_rank]
    return {
        "rank": [part["rank"] for part in per_rank],
        "hosts": hosts,
        "host": column([place[part["host"]] for part in per_rank]),
        "pid": [part["pid"] for part in per_rank],
        "numbers": {name: column(values) for name, values in columns.items()},
        "spread": {
            name: spread(values)
            for name, values in columns.items()
            if values and min(values) != max(values)
        },
    }


def lines(report, most):
    """Each keyval's line, with how its numbers differ between ranks."""
    by_rank = {}
    for place, part in enumerate(report["per_rank"]):
        for line in part["keyvals"]:
            by_rank.setdefault(reading.key_of(line), []).append((place, line))
    result = []
    for line in report["sum"]["keyvals"][:most]:
        there = by_rank.get(reading.key_of(line), [])
        spreads = {}
        for name in NUMBERS:
            values = [0] * len(report["per_rank"])
            for place, one in there:
                values[place] += one[name]
            if values and min(values) != max(values):
                spreads[name] = spread(values)
        result.append(
            {
                "kind": line["kind"],
                "library": line["library"],
                "function": line["function"],
                "named_by": line["named_by"],
                "made_at": line["made_at"],
                "numbers": [line[name] for name in NUMBERS],
                "last_failure": line["last_failure"],
                "on_ranks": len({place for place, _ in there}),
                "spread": spreads,
            }
        )
    return result


def cut(items, most, number):
    """The first of a list, and how many more there are, with the sum of their numbers."""
    rest = items[most:]
    return {"items": items[:most], "more": len(rest), "more_sum": sum(one[number] for one in rest)}


def objects_by_place(items):
    """What came from one place is one entry, with the first of its names."""
    places = {}
    for one in items:
        there = places.setdefault(
            (one["kind"], one["from"], one["place"]),
            {
                "kind": one["kind"],
                "from": one["from"],
                "place": one["place"],
                "names": [],
                "count": 0,
            },
        )
        there["names"].append(one["object"])
        there["count"] += one["count"]
    for one in places.values():
        one["more_names"] = len(one["names"][NAMES:])
        one["names"] = one["names"][:NAMES]
    return sorted(places.values(), key=lambda one: -one["count"])


def misuse(report, most):
    """Each sort, with its places and how many ranks each place was caught on."""
    on = {}
    for part in report["per_rank"]:
        for name, one in part["misuse"].items():
            for place in [None] + list(one["places"]):
                on.setdefault((name, place), []).append(part["rank"])
    result = []
    for name, one in sorted(report["sum"]["misuse"].items(), key=lambda item: -item[1]["times"]):
        places = sorted(one["places"].items(), key=lambda item: (-item[1], item[0]))
        entries = [
            {
                "place": place,
                "times": times,
                "on_ranks": len(on.get((name, place), [])),
                "ranks": on.get((name, place), [])[:4],
            }
            for place, times in places
        ]
        result.append(
            {
                "name": name,
                "what": one["what"],
                "rule": one["rule"],
                "times": one["times"],
                "on_ranks": len(on.get((name, None), [])),
                "places": cut(entries, most, "times"),
            }
        )
    return result


def made(report, timeline, changes, share):
    """All data of the page. `timeline(n)` is that of at most n events."""
    total = report["sum"]

    def most(number):
        return int(number * share)

    if changes:
        rest = changes["lines"][most(MOST_LINES) :]
        changes = dict(
            changes,
            lines=changes["lines"][: most(MOST_LINES)],
            lines_more=len(rest),
            objects=changes["objects"][: most(MOST_OBJECTS)],
            misuse=changes["misuse"][: most(MOST_PLACES)],
        )
    return {
        "attrcache": report["attrcache"],
        "mpi": report["mpi"],
        "ranks": report["ranks"],
        "ranks_heard_of": report["ranks_heard_of"],
        "finalized": report["finalized"],
        "checked": report["checked"],
        "seconds": total["seconds"],
        "command": report["command"],
        "kinds": report["kinds"],
        "ends": ENDS,
        "partial": [part["rank"] for part in report["per_rank"] if part["partial"]],
        "written": datetime.datetime.now().strftime("%Y-%m-%d %H:%M"),
        "names": NUMBERS,
        "totals": [sum(line[name] for line in total["keyvals"]) for name in NUMBERS],
        "keyvals": lines(report, most(MOST_LINES)),
        "keyvals_more": len(total["keyvals"][most(MOST_LINES) :]),
        "attached": cut(total["attached"], most(MOST_ATTACHED), "attributes"),
        "objects": cut(objects_by_place(total["objects"]), most(MOST_OBJECTS), "count"),
        "misuse": misuse(report, most(MOST_PLACES)),
        "not_served": total["not_served"],
        "per_rank": ranks(report["per_rank"]),
        "timeline": timeline(most(MOST_EVENTS)),
        "changes": changes,
    }
