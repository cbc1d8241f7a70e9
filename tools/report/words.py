# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Numbers, lists, ranks and columns as people write them; and names, whoever gave them."""

import unicodedata

TIMES = ("callback_ns", "callback_own_ns", "seconds")


def printable(name):
    """The name on one line that controls no terminal: what isn't printable, such as a newline, an escape
    code or a mark that turns the direction, as \\n, \\x1b, \\u202e."""
    if name.isprintable():
        return name
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in name)


def width(cell):
    """The columns of a terminal that it takes."""
    if cell.isascii():
        return len(cell)
    marks = sum(unicodedata.category(one) in ("Mn", "Me") for one in cell)
    return len(cell) - marks + sum(unicodedata.east_asian_width(one) in "WF" for one in cell)


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
    widths = [max(map(width, column)) for column in zip(*rows)]
    fills = [[" " * (of - width(cell)) for cell, of in zip(row, widths)] for row in rows]
    return [
        "  ".join(
            cell + fill if i == name else fill + cell for i, (cell, fill) in enumerate(zip(*line))
        ).rstrip()
        for line in zip(rows, fills)
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
