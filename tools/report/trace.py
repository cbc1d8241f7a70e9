# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The timeline: of what ranks have handed over, as a Chrome trace for Perfetto, with the findings as
markers; and read from such a file, for the page's tables."""

import json
from typing import NamedTuple

import findings
from reading import Bad

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
    dropped: int


NOTHING = Trace({}, [], 0)


# ---- Of what ranks have handed over ----


def of_rank(trace, kinds):
    """(dropped, events) of a document; the events start in nanoseconds since 1970, and have rank 0."""
    if trace is None:
        return 0, []
    names = [str(name) for name in trace["names"]]
    epoch = int(trace["epoch_ns"])
    events = []
    for start, duration, thread, what, name, kind, keyval, code in trace["events"]:
        if min(start, duration) < 0 or min(what, name, kind) < 0:
            raise ValueError('"trace"')
        times = int(start) + epoch, int(duration)
        more = WHATS[what], names[name], int(keyval), int(code), kinds[kind]
        events.append(Event(0, int(thread), *times, *more))
    return int(trace["dropped"]), events


class Of(NamedTuple):
    """The trace of a rank, and the process that it was."""

    host: str
    pid: int
    ended: int  # nanoseconds since 1970; 0 if unknown
    trace: tuple


def beginning(traces):
    return min((one.start for of in traces.values() for one in of.trace[1]), default=0)


def joined(traces):
    """One trace of {rank: Of}. The first event begins at 0."""
    base = beginning(traces)
    threads, events = {}, []
    for rank, of in traces.items():
        for one in of.trace[1]:
            threads[rank, one.thread] = "main" if one.thread == of.pid else "thread"
            events.append(one._replace(rank=rank, start=one.start - base))
    return Trace(threads, events, sum(of.trace[0] for of in traces.values()))


def described(one):
    """An event as Chrome's format has it."""
    is_callback = one.what in CALLBACKS
    args = {"kind": one.kind}
    if one.keyval:
        args["keyval"] = one.keyval
    if is_callback:
        args.update(called_as=one.what, code=one.code)
    elif one.name:
        args["keyval_of"] = one.name
    return {
        "ph": "X",
        "cat": "callback" if is_callback else "operation",
        "name": one.name if is_callback and one.name else one.what,
        "pid": one.rank,
        "tid": one.thread,
        "ts": one.start / 1000,
        "dur": one.duration / 1000,
        "args": args,
    }


def marker(rank, at, name, args, thread=None):
    scope = {"s": "p"} if thread is None else {"s": "t", "tid": thread}
    return dict(ph="i", cat="finding", name=name, pid=rank, ts=at / 1000, args=args, **scope)


def markers(report, traces, trace):
    """The findings: failed callbacks where they failed, all others where their rank ended."""
    base, last = beginning(traces), {}
    for one in trace.events:
        end = one.start + one.duration
        last[one.rank] = max(last.get(one.rank, 0), end)
        if one.code != 0:
            args = {"code": one.code, "keyval": one.keyval}
            yield marker(one.rank, end, f"{one.name or one.what} failed", args, one.thread)
    for part in report["per_rank"]:
        rank = part["rank"]
        ended = traces[rank].ended - base if base and traces[rank].ended else 0
        for one in findings.of_rank(report, part):
            args = {"why": one.why, "where": "; ".join(where.text for where in one.parts[:20])}
            at = max(ended, last.get(rank, 0))
            yield marker(rank, at, f"{one.sort}: {one.what}", {k: v for k, v in args.items() if v})


def chrome(report, traces):
    """The trace of {rank: Of} in Chrome's format, in pieces; an event to a line."""
    trace = joined(traces)

    def meta(name, rank, args, **more):
        return dict(ph="M", name=name, pid=rank, args=args, **more)

    def entries():
        for rank, of in traces.items():
            dropped = of.trace[0]
            end = ": its last events were dropped" if dropped else ""
            name = f"rank {rank} ({of.host}, process {of.pid}){end}"
            yield meta("process_name", rank, {"name": name, "dropped_events": dropped})
            yield meta("process_sort_index", rank, {"sort_index": rank})
        for rank, thread in sorted(trace.threads):
            yield meta("thread_name", rank, {"name": trace.threads[rank, thread]}, tid=thread)
        yield from map(described, trace.events)
        yield from markers(report, traces, trace)

    yield '{"displayTimeUnit": "ns", "traceEvents": ['
    for i, entry in enumerate(entries()):
        yield (",\n" if i else "\n") + json.dumps(entry, ensure_ascii=False)
    yield "\n]}\n"


# ---- Of a file ----


def event(entry):
    args = entry["args"]
    what = str(args.get("called_as") or entry["name"])
    name = str(entry["name"] if "called_as" in args else args.get("keyval_of", ""))
    start, duration = round(entry["ts"] * 1000), round(entry["dur"] * 1000)
    if start < 0 or duration < 0:
        raise ValueError
    numbers = int(args.get("keyval", 0)), int(args.get("code", 0))
    where = int(entry["pid"]), int(entry["tid"]), start, duration
    return Event(*where, what, "" if name == what else name, *numbers, str(args.get("kind", "")))


def read(path):
    """The trace in a file that chrome() made."""
    threads, events, dropped = {}, [], 0
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if not line.startswith('{"ph"'):
                    continue
                entry = json.loads(line.strip().rstrip(","))
                if entry["ph"] == "X":
                    events.append(event(entry))
                elif entry["name"] == "process_name":
                    dropped += int(entry["args"].get("dropped_events", 0))
                elif entry["name"] == "thread_name":
                    threads[int(entry["pid"]), int(entry["tid"])] = str(entry["args"]["name"])
    except OSError as error:
        raise Bad(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise Bad(f"{path} is no trace of attrcache-run --trace, or a damaged one") from None
    return Trace(threads, events, dropped)


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
