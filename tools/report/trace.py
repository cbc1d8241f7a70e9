# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The timeline: made of what ranks have handed over; written in Chrome's trace format, for Perfetto,
with the findings as markers; and read from such a file, for the page's tables."""

import collections
import json
from typing import NamedTuple

import findings
from reading import Bad
from words import printable

# In the order of the interposer's numbers (lib/mpi/recording/trace.h).
WHATS = ["set", "delete", "free_keyval", "dup", "free", "copy_fn", "delete_fn"]
CALLBACKS = ("copy_fn", "delete_fn")


class Event(NamedTuple):
    """A callback or a slow operation; times in nanoseconds after the first event."""

    rank: int
    thread: int
    start: int
    duration: int
    what: str
    name: str  # the callback's function, or, of an operation, what made the keyval
    keyval: int
    code: int
    kind: str


class Trace(NamedTuple):
    threads: dict  # (rank, thread): "main" or "thread"
    events: list
    dropped: dict  # by rank, how many events there was no room for
    ended: dict  # by rank, when it ended, if that is known


NOTHING = Trace({}, [], {}, {})


# ---- Of what ranks have handed over ----


def of_rank(trace, kinds):
    """(dropped, events) of a document; the events start in nanoseconds since 1970, and have rank 0."""
    if trace is None:
        return 0, []
    names = [printable(str(name)) for name in trace["names"]]
    epoch = int(trace["epoch_ns"])
    events = []
    for start, duration, thread, what, name, kind, keyval, code in trace["events"]:
        if min(start, duration) < 0 or min(what, name, kind) < 0:
            raise ValueError('"trace"')
        times = int(start) + epoch, int(duration)
        more = WHATS[what], names[name], int(keyval), int(code), kinds[kind]
        events.append(Event(0, int(thread), *times, *more))
    return int(trace["dropped"]), events


def joined(parts):
    """The trace of documents. The first event begins at 0."""
    base = min((one.start for part in parts for one in part["trace"][1]), default=0)
    made = Trace({}, [], {}, {})
    for part in parts:
        rank = part["rank"]
        made.dropped[rank], events = part["trace"]
        if base:
            made.ended[rank] = part["begun"] + round(part["seconds"] * 1e9) - base
        for one in events:
            made.threads[rank, one.thread] = "main" if one.thread == part["pid"] else "thread"
            made.events.append(one._replace(rank=rank, start=one.start - base))
    return made


def entry(ph, name, rank, args, **more):
    """An entry of a file in Chrome's format."""
    return dict(ph=ph, name=name, pid=rank, args=args, **more)


def described(one):
    is_callback = one.what in CALLBACKS
    args = {"kind": one.kind}
    if one.keyval:
        args["keyval"] = one.keyval
    if is_callback:
        args.update(called_as=one.what, code=one.code)
    elif one.name:
        args["keyval_of"] = one.name
    name = one.name if is_callback and one.name else one.what
    more = dict(tid=one.thread, ts=one.start / 1000, dur=one.duration / 1000)
    more["cat"] = "callback" if is_callback else "operation"
    return entry("X", name, one.rank, args, **more)


def markers(report, trace):
    """The findings: failed callbacks where they failed, all others where their rank ended."""
    last = collections.Counter(trace.ended)
    for one in trace.events:
        end = one.start + one.duration
        last[one.rank] = max(last[one.rank], end)
        if one.code != 0:
            args = {"code": one.code, "keyval": one.keyval}
            where = dict(cat="finding", ts=end / 1000, s="t", tid=one.thread)
            yield entry("i", f"{one.name or one.what} failed", one.rank, args, **where)
    for part in report["per_rank"]:
        where = dict(cat="finding", ts=last[part["rank"]] / 1000, s="p")
        for sort, some in findings.of_rank(report, part).items():
            for one in some:
                places = "; ".join(there.text for there in one.parts[:20])
                args = {"why": one.why, **({"where": places} if places else {})}
                yield entry("i", f"{sort}: {one.what}", part["rank"], args, **where)


def chrome(report, trace):
    """The trace in Chrome's format, in pieces; an entry to a line."""

    def entries():
        for part in report["per_rank"]:
            rank, dropped = part["rank"], trace.dropped[part["rank"]]
            end = ": its last events were dropped" if dropped else ""
            name = f"rank {rank} ({part['host']}, process {part['pid']}){end}"
            yield entry("M", "process_name", rank, {"name": name, "dropped_events": dropped})
            yield entry("M", "process_sort_index", rank, {"sort_index": rank})
        for (rank, thread), name in sorted(trace.threads.items()):
            yield entry("M", "thread_name", rank, {"name": name}, tid=thread)
        yield from map(described, trace.events)
        yield from markers(report, trace)

    yield '{"displayTimeUnit": "ns", "traceEvents": ['
    for i, one in enumerate(entries()):
        yield (",\n" if i else "\n") + json.dumps(one, ensure_ascii=False)
    yield "\n]}\n"


# ---- Of a file ----


def event(one):
    args = one["args"]
    what = printable(str(args.get("called_as") or one["name"]))
    name = printable(str(one["name"] if "called_as" in args else args.get("keyval_of", "")))
    start, duration = round(one["ts"] * 1000), round(one["dur"] * 1000)
    if start < 0 or duration < 0:
        raise ValueError
    numbers = int(args.get("keyval", 0)), int(args.get("code", 0))
    where = int(one["pid"]), int(one["tid"]), start, duration
    return Event(*where, what, "" if name == what else name, *numbers, printable(str(args.get("kind", ""))))


def read(path):
    """The trace in a file that chrome() made."""
    made = Trace({}, [], {}, {})
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if not line.startswith('{"ph"'):
                    continue
                one = json.loads(line.strip().rstrip(","))
                if one["ph"] == "X":
                    made.events.append(event(one))
                elif one["name"] == "process_name":
                    made.dropped[int(one["pid"])] = int(one["args"]["dropped_events"])
                elif one["name"] == "thread_name":
                    name = printable(str(one["args"]["name"]))
                    made.threads[int(one["pid"]), int(one["tid"])] = name
    except OSError as error:
        raise Bad(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise Bad(f"{path} is no trace of attrcache-run --trace, or a damaged one") from None
    return made


# ---- For the page ----


def lanes(trace):
    """For each thread of a rank that has events: (number of events, nanoseconds in them), those that
    lie within others not counted twice."""
    found, ends = {}, {}
    for one in sorted(trace.events, key=lambda one: (one.start, -one.duration)):
        lane, end = (one.rank, one.thread), one.start + one.duration
        number, busy = found.get(lane, (0, 0))
        is_inside = end <= ends.get(lane, -1)
        found[lane] = number + 1, busy + (0 if is_inside else one.duration)
        ends[lane] = max(end, ends.get(lane, -1))
    return found
