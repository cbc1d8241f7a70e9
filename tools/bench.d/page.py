# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes the HTML page. It is a single file with the plots inside, and loads nothing."""

import html
import itertools

import costs
import plots

TITLES = {
    "get_hit": "get, one attribute attached",
    "get_first_of_64": "get, oldest of 64 attributes",
    "get_last_of_64": "get, newest of 64 attributes",
    "get_absent": "get, nothing attached",
    "get_predefined": "get of a predefined attribute",
    "borrow": "borrow a value and give it back",
    "borrow_100": "borrow a value a hundred times at once, and give all back",
    "set": "set, replacing a value",
    "set_delete": "set and delete",
    "create_free": "create and free a keyval",
    "object_0": "make an object and free it",
    "object_4": "make an object, attach 4 values, and free it",
    "dup_free_8": "duplicate an object with 8 attributes, and free it",
    "dup_free_100": "duplicate an object with 100 attributes, and free it",
    "get_beside_setter": "get, beside a thread that sets on another object",
}

SWEEP_TITLES = {
    "get_each": "get on each object in turns",
    "get_last_of_64": "get of the attribute set last",
}

STYLE = """body{font:15px/1.5 sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#111}
h2{margin-top:2em;border-bottom:1px solid #cbd5e1}h3{margin-bottom:.3em}pre{font-size:12px;overflow-x:auto}
svg{max-width:100%;height:auto}b{color:#c2410c}"""


def _mpi(name):
    return name.startswith(("openmpi", "mpich"))


# Each title has two plots: (suffix of the title, whether a contender is in it).
GROUPS = (("", lambda name: not _mpi(name)), (" through the MPI API", _mpi))


def _bars(title, unit, measured):
    """measured: [(contender, value, (low, high))]; the shortest bar comes first."""
    rows = [plots.Bar(contender, value, plots.is_ours(contender), span)
            for contender, value, span in sorted(measured, key=lambda m: m[1])]
    return plots.bars(title, rows, unit) if rows else ""


def _lines(title, points, x_label, y_label, log_y=True):
    """points: {contender: [(x, y)]}"""
    plotted = [plots.Line(c, tuple(found), plots.is_ours(c)) for c, found in points.items()]
    return plots.lines(title, plotted, x_label, y_label, log_y)


def _latency(series):
    yield "<h2>Latency, one thread</h2>"
    for operation, title in TITLES.items():
        for heading, is_member in GROUPS:
            times = [(c, series.latency(operation, c)) for c in filter(is_member, series.contenders)]
            plot = _bars(title + heading, "ns", [(c, t.median, (t.low, t.high)) for c, t in times if t])
            if plot:
                yield f"<h3>{html.escape(title + heading)}</h3>{plot}"


def _scaling(series):
    yield "<h2>Scaling over threads</h2>"
    for operation in ("get_hit", "borrow", "set", "set_delete", "dup_free_8", "object_4"):
        for sharing in ("same", "different"):
            whose = "the same object" if sharing == "same" else "an object each"
            for heading, is_member in GROUPS:
                points = {c: series.scaling(operation, c, sharing)
                          for c in filter(is_member, series.contenders)}
                title = f"{TITLES[operation]}{heading}: {whose}"
                plot = _lines(title, points, "threads", "throughput over one thread",
                              log_y=False)
                if plot:
                    yield f"<h3>{html.escape(title)}</h3>{plot}"


def _sweeps(series):
    for heading, dimension, wanted in (
            ("Cost over the number of attributes", "attributes", ["get_last_of_64"]),
            ("Cost over the number of keyvals", "keyvals", ["get_hit", "set", "create_free"]),
            ("Cost over the number of objects (beyond a few thousand, cache misses)", "objects",
             ["get_each"])):
        found = []
        for operation, (group, is_member) in itertools.product(wanted, GROUPS):
            points = {c: series.over(dimension, operation, c)
                      for c in filter(is_member, series.contenders)}
            title = SWEEP_TITLES.get(operation, TITLES.get(operation)) + group
            plot = _lines(title, points, dimension, "ns")
            if plot:
                found.append(f"<h3>{html.escape(title)}</h3>{plot}")
        if found:
            yield f"<h2>{html.escape(heading)}</h2>" + "".join(found)


def _memory(results):
    cases = list(dict.fromkeys((k, a) for _, k, a, _ in results.bytes))
    if cases:
        yield "<h2>Memory per object</h2>"
    for keyvals, attributes in cases:
        title = (f"one attribute under the last of {keyvals:,.0f} keyvals" if keyvals > 64
                 else f"{attributes:.0f} attribute{'s' if attributes > 1 else ''}")
        measured = [(c, b, (b, b)) for c, k, a, b in results.bytes if (k, a) == (keyvals, attributes)]
        yield f"<h3>{html.escape(title)}</h3>{_bars(title, 'bytes', measured)}"


def _costs(counts):
    if not counts:
        return
    yield "<h2>Instructions, where a number falls</h2>"
    yield "<p>Through the shared library, with the caller's loop.</p>"
    for title, x_label, points in costs.curves(counts):
        plot = plots.lines(title, [plots.Line("attrcache", tuple(points), True)], x_label, "instructions",
                           log_y=False)
        yield f"<h3>{html.escape(title)}</h3>{plot}"


def page(results, series, table, costs_counted):
    context = results.context
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>",
        f"<title>attrcache, measured</title><style>{STYLE}</style><h1>attrcache, measured</h1>",
        f"<p>{html.escape(context['machine'])}; {html.escape(context['date'])}; medians of "
        f"{context['rounds']} interleaved rounds, the range as a line. <b>attrcache</b> is embedded in "
        "the caller (inlined, or in a shared library); <b>served</b> is an MPI whose attributes "
        "attrcache serves, beside the same MPI natively.</p>",
        *_latency(series), *_scaling(series), *_sweeps(series), *_costs(costs_counted), *_memory(results),
        f"<h2>Table</h2><pre>{html.escape(table)}</pre></html>\n",
    ]
    return "\n".join(parts)
