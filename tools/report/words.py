# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Numbers, lists and ranks as people write them."""


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


def listed(names, most=3):
    """The first few."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def on_ranks(ranks, report, form=" ({})"):
    """ " (rank 3 on nodeb)", or nothing if there is one rank only."""
    parts = report["per_rank"]
    if len(parts) < 2 or not ranks:
        return ""
    if len(ranks) == len(parts):
        return form.format("each rank")
    if len(ranks) == 1:
        host = next(part["host"] for part in parts if part["rank"] == ranks[0])
        return form.format(f"rank {ranks[0]} on {host}")
    return form.format(f"ranks {listed([str(rank) for rank in ranks], 6)}")
