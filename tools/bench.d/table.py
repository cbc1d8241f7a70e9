# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The table: times of one thread with ratios, scaling, and what grows with numbers."""


def reference(contender):
    """The contender to which the ratio of this one is: an MPI is compared with itself when served."""
    mpi, _, level = contender.partition("_native_" if "_native_" in contender else "_served_")
    return f"{mpi}_served_{level}" if level else "attrcache_shared"


def _rows(head, rows):
    rows = [head, *rows]
    widths = [max(len(row[c]) for row in rows) for c in range(len(head))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        yield "  ".join(cells).rstrip()


def _one_thread(series):
    yield "ns per operation on one thread, +- half the range of the rounds; (x: over attrcache in its place)"
    operations = [o for o in series.operations() if o != "get_each"]
    for operation in operations:
        yield ""
        yield operation
        rows = []
        for contender in series.contenders:
            time = series.latency(operation, contender)
            if time is None:
                continue
            against = series.latency(operation, reference(contender))
            ratio = f"{time.median / against.median:.2f}x" if against else "-"
            rows.append((f"  {contender}", f"{time.median:.2f}", f"+-{100 * time.spread:.0f}%", ratio))
        yield from _rows(("", "ns", "", ""), rows)


def _scaling(series):
    counts = [t for t in series.thread_counts() if t > 1]
    if not counts:
        return
    yield ""
    yield "throughput of several threads over that of one; up to the number of processors: while all of them ran"
    for operation in series.operations():
        head = [f"{sharing} {threads}" for sharing in ("same", "different") for threads in counts]
        rows = []
        for contender in series.contenders:
            points = {(sharing, t): x for sharing in ("same", "different")
                      for t, x in series.scaling(operation, contender, sharing) if t > 1}
            if points:
                rows.append((f"  {contender}", *(
                    f"{points[s, t]:.2f}" if (s, t) in points else "-"
                    for s in ("same", "different") for t in counts)))
        if rows:
            yield ""
            yield operation
            yield from _rows(("", *head), rows)


def _sweeps(series):
    for dimension in ("attributes", "keyvals", "objects"):
        for operation in series.operations():
            found = {c: dict(series.over(dimension, operation, c)) for c in series.contenders}
            sizes = sorted({size for points in found.values() for size in points})
            if sizes:
                yield ""
                yield f"{operation}, ns, over the number of {dimension}"
                yield from _rows(("", *(f"{size:,}" for size in sizes)), [
                    (f"  {c}", *(f"{points[s]:.1f}" if s in points else "-" for s in sizes))
                    for c, points in found.items() if points])


def _order(series):
    """Lists where a contender is faster than attrcache. MPIs are compared with served ones, others with the C API."""
    yield ""
    operations = [o for o in series.operations()
                  if o.startswith(("get", "set", "borrow", "object")) and o != "get_each"]
    faster = []
    for operation in operations:
        for contender in series.contenders:
            if not rivals(contender) and operation != "borrow":
                continue
            ours = series.latency(operation, reference(contender))
            theirs = series.latency(operation, contender)
            if ours and theirs and theirs.median < ours.median:
                faster.append(f"  {operation}: {contender} {theirs.median:.2f}, {reference(contender)} "
                              f"{ours.median:.2f}")
    yield ("in every get, borrow and set, and with objects made and freed, on one thread, attrcache is fastest"
           + (", but for:" if faster else ""))
    yield from faster


def rivals(contender):
    """Whether it is an MPI, a map, GLib or OpenSSL. Arrays, which check nothing, are lower bounds and no rivals, but
    for those that keep values alive, of which one borrows."""
    return "_served" not in contender and not contender.startswith(
        ("attrcache", "raw_array", "urcu_qsbr_array", "urcu_memb_array"))


def text(results, series):
    lines = [f"{results.context['machine']}, {results.context['date']}, "
             f"{results.context['rounds']} rounds", ""]
    lines += [*_one_thread(series), *_order(series), *_scaling(series), *_sweeps(series)]
    for contender, error in results.failures:
        lines.append(f"FAILED: {contender}: {error}")
    return "\n".join(lines) + "\n"
