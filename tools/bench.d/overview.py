# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Draws the plot in README.md: the cost of get on one thread, and how it scales over threads."""

import plots

# (heading, {contender: label})
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


def svg(results, series):
    """The plot, or None if its measurements are missing."""
    threads = next((t for t in series.thread_counts() if t > 1), None)
    if threads is None:
        return None
    rows = []
    for heading, contenders in GROUPS:
        found = [(series.latency("get_hit", c).median, c) for c in contenders
                 if series.latency("get_hit", c)]
        if found:
            rows.append(plots.Heading(heading))
        for ns, contender in sorted(found):
            scaling = dict(series.scaling("get_hit", contender, "same")).get(threads)
            rows.append(plots.Bar(contenders[contender], (ns, scaling), plots.is_ours(contender)))
    if not rows:
        return None
    panels = (
        plots.Panel("get of an attached attribute: ns, one thread", format_value=lambda v: f"{v:.1f}"),
        plots.Panel(f"{threads} threads on one object: throughput",
                    f"over that of one thread; {threads}.0 is perfect",
                    format_value=lambda v: f"{v:.2f}", at_least=threads),
    )
    return plots.bars("what a get costs", rows, panels, label_width=170, panel_width=260,
                      caption=caption(results))


def caption(results):
    context = results.context
    return f"{context['machine']}; {context['date'][:10]}; {context['rounds']} rounds"
