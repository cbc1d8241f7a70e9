# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The timeline in Chrome's trace format, for Perfetto and the page's table: made of what ranks have
handed over, with the findings as markers, or read from a file."""

import collections
import json
from typing import NamedTuple

import findings
from reading import COUNT, Bad, checked, content
from words import printable

# In the order of the interposer's numbers (lib/mpi/recording/trace.h).
WHATS = ["set", "delete", "free_keyval", "dup", "free", "copy_fn", "delete_fn"]
CALLBACKS = ("copy_fn", "delete_fn")

# A callback or a slow operation: `pid` is the rank, `ts` and `dur` are microseconds after the first event.
# `function` is the callback's, or, of an operation, of what made the keyval.
ARGS = dict(what=str, function=str, kind=str, keyval=int, code=int)
EVENT = dict(ph=str, name=str, cat=str, pid=COUNT, tid=COUNT, ts=float, dur=float, args=ARGS)


class Trace(NamedTuple):
    events: list
    dropped: dict  # by rank, how many events there was no room for
    ended: dict  # by rank, when it ended, if that is known


NOTHING = Trace([], {}, {})


def of_rank(trace, kinds):
    """(dropped, events) of a document, as event() takes them, in nanoseconds since 1970."""
    if trace is None:
        return 0, []
    names = [printable(str(name)) for name in trace["names"]]
    epoch = int(trace["epoch_ns"])
    events = []
    for start, duration, thread, what, name, kind, keyval, code in trace["events"]:
        if min(start, duration) < 0 or min(what, name, kind) < 0:
            raise ValueError('"trace"')
        times = int(start) + epoch, int(duration), int(thread)
        events.append((*times, WHATS[what], names[name], kinds[kind], int(keyval), int(code)))
    return int(trace["dropped"]), events


def joined(parts):
    """The trace of documents. The first event begins at 0."""
    base = min((one[0] for part in parts for one in part["trace"][1]), default=0)
    made = Trace([], {}, {})
    for part in parts:
        rank = part["rank"]
        made.dropped[rank], events = part["trace"]
        if base:
            made.ended[rank] = (part["begun"] + round(part["seconds"] * 1e9) - base) / 1000
        made.events.extend(event(rank, start - base, *rest) for start, *rest in events)
    return made


def entry(ph, name, rank, args, **more):
    """An entry of a file in Chrome's format."""
    return dict(ph=ph, name=name, pid=rank, args=args, **more)


def event(rank, start, duration, thread, what, function, kind, keyval, code):
    is_callback = what in CALLBACKS
    args = dict(what=what, function=function, kind=kind, keyval=keyval, code=code)
    more = dict(cat="callback" if is_callback else "operation", tid=thread)
    name = is_callback and function or what
    return entry("X", name, rank, args, ts=start / 1000, dur=duration / 1000, **more)


def markers(report, trace):
    """The findings: failed callbacks where they failed, all others where their rank ended."""
    last = collections.Counter(trace.ended)
    for one in trace.events:
        rank, end = one["pid"], one["ts"] + one["dur"]
        last[rank] = max(last[rank], end)
        if one["args"]["code"] != 0:
            args = {name: one["args"][name] for name in ("code", "keyval")}
            where = dict(cat="finding", ts=end, s="t", tid=one["tid"])
            yield entry("i", f"{one['name']} failed", rank, args, **where)
    for part in report["per_rank"]:
        where = dict(cat="finding", ts=last[part["rank"]], s="p")
        for sort, some in findings.of_rank(report, part).items():
            for one in some:
                places = "; ".join(there.text for there in one.parts[:20])
                args = {"why": one.why, **({"where": places} if places else {})}
                yield entry("i", f"{sort}: {one.what}", part["rank"], args, **where)


def chrome(report, trace):
    """The file, in pieces; an entry to a line."""

    def entries():
        threads = collections.defaultdict(set)
        for one in trace.events:
            threads[one["pid"]].add(one["tid"])
        for part in report["per_rank"]:
            rank, dropped = part["rank"], trace.dropped[part["rank"]]
            end = ": its last events were dropped" if dropped else ""
            name = f"rank {rank} ({part['host']}, process {part['pid']}){end}"
            yield entry("M", "process_name", rank, {"name": name, "dropped_events": dropped})
            yield entry("M", "process_sort_index", rank, {"sort_index": rank})
            for thread in sorted(threads[rank]):
                name = "main" if thread == part["pid"] else "thread"
                yield entry("M", "thread_name", rank, {"name": name}, tid=thread)
        yield from trace.events
        yield from markers(report, trace)

    yield '{"displayTimeUnit": "ns", "traceEvents": ['
    for i, one in enumerate(entries()):
        yield (",\n" if i else "\n") + json.dumps(one, ensure_ascii=False)
    yield "\n]}\n"


def read(path):
    """The trace in a file that chrome() made."""
    found = content(path)
    try:
        entries = found["traceEvents"]
        events = [checked("event", one, EVENT) for one in entries if one["ph"] == "X"]
        heads = [one for one in entries if one["name"] == "process_name"]
        dropped = {one["pid"]: int(one["args"]["dropped_events"]) for one in heads}
    except (Bad, KeyError, TypeError, ValueError, OverflowError):
        raise Bad(f"{path} is no trace of attrcache-run --trace, or a damaged one") from None
    return Trace(events, dropped, {})
