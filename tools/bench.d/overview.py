# SPDX-License-Identifier: Apache-2.0
"""The plot of README.md: get on one thread, and how it scales, of attrcache and what one might use instead."""

import plots

# Heading, {contender: label}.
GROUPS = (
    ("embedded in a runtime", {
        "attrcache_inlined": "attrcache, inlined",
        "attrcache_shared": "attrcache, C API",
        "libcds_feldman_map": "libcds array map",
        "urcu_qsbr_lfht": "liburcu hash table",
        "tbb_concurrent_unordered_map": "oneTBB unordered map",
        "tbb_concurrent_hash_map": "oneTBB hash map",
        "mutex_map": "map + mutex",
        "shared_mutex_map": "map + shared mutex",
        "glib_qdata": "GLib qdata",
    }),
    ("through the MPI API", {
        "openmpi_served_multiple": "Open MPI, served",
        "openmpi_native_multiple": "Open MPI",
        "mpich_served_multiple": "MPICH, served",
        "mpich_native_multiple": "MPICH",
    }),
)
LEFT, PANEL, GAP, ROW = 170, 260, 60, 18


def _panel(x, y, values, format_value, longest):
    for at, value in values:
        if value is None:
            continue
        width = value / longest * PANEL
        fill = plots.OURS[0] if at[1] else "#94a3b8"
        yield (f'<rect x="{x}" y="{y + at[0]}" width="{max(width, 1):.1f}" height="12" fill="{fill}"/>')
        yield plots.text(x + width + 5, y + at[0] + 10.5, format_value(value))


def svg(results, series):
    """None where the measurements for it are missing."""
    threads = next((t for t in series.thread_counts() if t > 1), None)
    rows, labels, y = [], [], 42
    for heading, contenders in GROUPS:
        found = [(c, label) for c, label in contenders.items() if series.latency("get_hit", c)]
        if not found:
            continue
        labels.append((y, heading, "#64748b", "start", 4))
        y += ROW
        # The fastest first.
        for contender, label in sorted(found, key=lambda f: series.latency("get_hit", f[0]).median):
            ours = plots.is_ours(contender)
            labels.append((y, label, plots.OURS[0] if ours else "#111", "end", LEFT - 8))
            scaling = dict(series.scaling("get_hit", contender, "same")).get(threads)
            rows.append(((y, ours), series.latency("get_hit", contender).median, scaling))
            y += ROW
        y += 6
    if not rows or threads is None:
        return None
    second = LEFT + PANEL + GAP
    width = second + PANEL + GAP
    parts = [f'<rect width="{width}" height="{y + 24}" fill="#fff"/>',
             plots.text(LEFT, 16, "get of an attached attribute: ns, one thread"),
             plots.text(second, 16, f"{threads} threads on one object: throughput"),
             plots.text(second, 31, f"over that of one thread; {threads}.0 is perfect", fill="#64748b")]
    parts += [plots.text(x, at + 10.5, text, anchor, fill) for at, text, fill, anchor, x in labels]
    parts += _panel(LEFT, 0, [(at, ns) for at, ns, _ in rows], lambda v: f"{v:.1f}",
                    max(ns for _, ns, _ in rows))
    parts += _panel(second, 0, [(at, scaling) for at, _, scaling in rows], lambda v: f"{v:.2f}",
                    max([threads] + [scaling for _, _, scaling in rows if scaling]))
    parts.append(plots.text(4, y + 12, caption(results), fill="#64748b"))
    return plots.svg(width, y + 24, parts, "what a get costs") + "\n"


def caption(results):
    context = results.context
    return f"{context['machine']}; {context['date'][:10]}; {context['rounds']} rounds"
