# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes the traces of ranks as a Chrome trace, reads that, and makes of a trace what a page can hold.

A trace may have millions of events. The page gets the longest, and those of callbacks that failed;
and of all events how much of the time each group of ranks spent in them.
"""

import heapq
import json

from reading import Bad

# The overview: into how many groups ranks are put, and time is cut, at most.
GROUPS = 64
BINS = 240
# In the order of the interposer's numbers.
WHATS = ["set", "delete", "free_keyval", "dup", "free", "copy_fn", "delete_fn"]


def lines_of(file):
    """The events of a Chrome trace, one by one: chrome() puts each on a line."""
    for line in file:
        line = line.strip()
        if line.startswith('{"ph"'):
            yield json.loads(line.rstrip(","))


def read(path, threads, events):
    """Adds to threads, (rank, thread) -> name, and to events; says how many were dropped."""
    dropped = 0
    try:
        with open(path, encoding="utf-8") as file:
            for entry in lines_of(file):
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
    return dropped


def event(entry):
    """(rank, thread, start, duration, what, name, keyval, code, kind); nanoseconds."""
    args = entry["args"]
    what = str(args.get("called_as") or entry["name"])
    name = str(entry["name"] if "called_as" in args else args.get("keyval_of", ""))
    if name == what:
        name = ""
    start, duration = round(entry["ts"] * 1000), round(entry["dur"] * 1000)
    if start < 0 or duration < 0:
        raise ValueError
    return (
        int(entry["pid"]),
        int(entry["tid"]),
        start,
        duration,
        what,
        name,
        int(args.get("keyval", 0)),
        int(args.get("code", 0)),
        str(args.get("kind", "")),
    )


def numbered(values):
    """A list of the different values, and the number of each."""
    numbers = {}
    places = [numbers.setdefault(value, len(numbers)) for value in values]
    return list(numbers), places


def nested(events):
    """For each event whether it lies within another one of its thread."""
    inside = [False] * len(events)
    ends = {}
    for i in sorted(range(len(events)), key=lambda i: (events[i][2], -events[i][3])):
        lane, end = events[i][:2], events[i][2] + events[i][3]
        inside[i] = end <= ends.get(lane, -1)
        ends[lane] = max(end, ends.get(lane, -1))
    return inside


def overview(events, ranks, length):
    """How much of each piece of time each group of ranks spent in events, in thousandths."""
    size = -(-(max(ranks) + 1) // GROUPS) if ranks else 1
    width = max(1, -(-length // BINS))
    cells = {}
    members = {}
    for rank in ranks:
        members[rank // size] = members.get(rank // size, 0) + 1
    for one, inside in zip(events, nested(events)):
        if inside:
            continue
        group, start, end = one[0] // size, one[2], one[2] + max(one[3], 1)
        for piece in range(start // width, (end - 1) // width + 1):
            within = min(end, (piece + 1) * width) - max(start, piece * width)
            cells[group, piece] = cells.get((group, piece), 0) + within
    flat = []
    for (group, piece), time in sorted(cells.items()):
        share = round(1000 * time / (width * members[group]))
        flat += [group, piece, max(1, share)]
    return {
        "ranks_each": size,
        "groups": max(members, default=-1) + 1,
        "bin_ns": width,
        "cells": flat,
    }


def traced(path):
    """What is in a Chrome trace: (threads, events, dropped)."""
    threads, events = {}, []
    dropped = read(path, threads, events)
    return threads, events, dropped


# ---- Of what ranks have handed over ----


def of_rank(trace, kinds):
    """(dropped, events) of a rank's document, as (thread, start, duration, what, name, keyval, code, kind)."""
    if trace is None:
        return 0, []
    names = [str(name) for name in trace["names"]]
    epoch = int(trace["epoch_ns"])
    events = []
    for start, duration, thread, what, name, kind, keyval, code in trace["events"]:
        if min(start, duration) < 0 or min(what, name, kind) < 0:
            raise ValueError('"trace"')
        events.append(
            (
                int(thread),
                int(start) + epoch,
                int(duration),
                WHATS[what],
                names[name],
                int(keyval),
                int(code),
                kinds[kind],
            )
        )
    return int(trace["dropped"]), events


def joined(traces):
    """(threads, events, dropped) of {rank: (host, pid, (dropped, events))}. Time begins with the first event."""
    base = min((one[1] for _, _, (_, events) in traces.values() for one in events), default=0)
    threads, all_events = {}, []
    for rank, (_, pid, (_, events)) in traces.items():
        for thread, start, *rest in events:
            threads[rank, thread] = "main" if thread == pid else "thread"
            all_events.append((rank, thread, start - base, *rest))
    return threads, all_events, sum(dropped for _, _, (dropped, _) in traces.values())


def chrome(traces):
    """A Chrome trace of {rank: (host, pid, (dropped, events))}, which chrome://tracing and Perfetto load, in pieces."""
    threads, events, _ = joined(traces)

    def meta(name, rank, args, **more):
        return dict(ph="M", name=name, pid=rank, args=args, **more)

    def entries():
        for rank, (host, pid, (dropped, _)) in traces.items():
            end = ": its last events were dropped" if dropped else ""
            name = f"rank {rank} ({host}, process {pid}){end}"
            yield meta("process_name", rank, {"name": name, "dropped_events": dropped})
            yield meta("process_sort_index", rank, {"sort_index": rank})
        for rank, thread in sorted(threads):
            yield meta("thread_name", rank, {"name": threads[rank, thread]}, tid=thread)
        for rank, thread, start, duration, what, name, keyval, code, kind in events:
            callback = what in ("copy_fn", "delete_fn")
            args = {"kind": kind}
            if keyval:
                args["keyval"] = keyval
            if callback:
                args.update(called_as=what, code=code)
            elif name:
                args["keyval_of"] = name
            yield {
                "ph": "X",
                "cat": "callback" if callback else "operation",
                "name": name if callback and name else what,
                "pid": rank,
                "tid": thread,
                "ts": start / 1000,
                "dur": duration / 1000,
                "args": args,
            }

    yield '{"displayTimeUnit": "ns", "traceEvents": ['
    for i, entry in enumerate(entries()):
        yield (",\n" if i else "\n") + json.dumps(entry, ensure_ascii=False)
    yield "\n]}\n"


def made(trace, kept):
    """The timeline as the page's data have it, with so many events; None if nothing happened."""
    threads, events, dropped = trace
    if not events:
        return None
    length = max(one[2] + one[3] for one in events)
    ranks = sorted({rank for rank, _ in threads} | {one[0] for one in events})
    chosen = heapq.nlargest(kept, events, key=lambda one: (one[7] != 0, one[3]))
    chosen.sort(key=lambda one: (one[0], one[1], one[2], -one[3]))
    lanes, lane = numbered([one[:2] for one in chosen])
    names, name = numbered([one[5] for one in chosen])
    keyvals, keyval = numbered([one[6] for one in chosen])
    whats = WHATS + sorted({one[4] for one in chosen} - set(WHATS))
    starts, last, last_lane = [], 0, None
    for one in chosen:
        starts.append(one[2] - (last if one[:2] == last_lane else 0))
        last, last_lane = one[2], one[:2]
    busy = {}
    for one, inside in zip(events, nested(events)):
        if not inside:
            busy[one[:2]] = busy.get(one[:2], 0) + one[3]
    return {
        "events": len(events),
        "dropped": dropped,
        "length_ns": length,
        "failed": sum(one[7] != 0 for one in events),
        "lanes": [
            [rank, thread, threads.get((rank, thread), "thread"), busy.get((rank, thread), 0)]
            for rank, thread in lanes
        ],
        "names": names,
        "whats": whats,
        "keyvals": keyvals,
        # Of the kept events, sorted by lane and start; a start is counted from the one before in
        # its lane.
        "lane": lane,
        "start": starts,
        "duration": [one[3] for one in chosen],
        "what": [whats.index(one[4]) for one in chosen],
        "name": name,
        "keyval": keyval,
        "codes": [[i, one[7]] for i, one in enumerate(chosen) if one[7] != 0],
        "overview": overview(events, ranks, length),
    }
