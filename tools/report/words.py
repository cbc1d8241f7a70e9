# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Numbers, lists, ranks and columns as people write them."""

TIMES = ("callback_ns", "callback_own_ns", "seconds")


def counted(number, noun):
    plural = noun[:-1] + "ies" if noun.endswith("ry") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def duration(nanoseconds):
    if nanoseconds == 0:
        return "0"
    for limit, unit, digits in ((1e3, "ns", 0), (1e6, "us", 1), (1e9, "ms", 1)):
        if nanoseconds < limit:
            return f"{nanoseconds / limit * 1000:.{digits}f} {unit}"
    return f"{nanoseconds / 1e9:,.2f} s"


def shown(what, value):
    """A number of a report, by its name there; times are in nanoseconds."""
    return duration(value) if what in TIMES else f"{value:,}"


def listed(names, most=3):
    """The first few."""
    more = len(names) - most
    return ", ".join(map(str, names[:most])) + (f" and {more:,} more" if more > 0 else "")


def aligned(rows, name=0):
    """Rows of cells as lines. Cells end below each other, but those of column `name` begin so."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    sides = ["<" if column == name else ">" for column in range(len(widths))]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths)).rstrip()
        for row in rows
    ]


def on_ranks(ranks, report, form=" ({})"):
    """ " (rank 3 on nodeb)", or nothing if there is only one rank."""
    parts = report["per_rank"]
    if len(parts) < 2 or not ranks:
        return ""
    if len(ranks) == len(parts):
        return form.format("each rank")
    if len(ranks) == 1:
        host = next(part["host"] for part in parts if part["rank"] == ranks[0])
        return form.format(f"rank {ranks[0]} on {host}")
    return form.format(f"ranks {listed(ranks, 6)}")
