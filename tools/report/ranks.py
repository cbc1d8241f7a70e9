# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How numbers differ between ranks, and which ranks stand out."""

from typing import NamedTuple

from reading import LABELS, sums
from words import TIMES, listed, shown

# With fewer ranks, none stands out: there are too few to tell what is usual.
FEWEST = 8
# What is compared. Times with those of other callbacks would count these twice.
COMPARED = dict(LABELS, misuse="misuse", objects="objects never freed")
COMPARED["seconds"] = "MPI_Init to the end"
del COMPARED["callback_ns"]


class Spread(NamedTuple):
    """How a number differs between ranks. The least, the most and the outliers are (value, rank)."""

    what: str
    least: tuple
    median: int
    most: tuple
    outliers: list

    def cells(self):
        """For a table with these columns: number, least, median, most, outliers."""
        least, most = (f"{shown(self.what, n)} (rank {rank})" for n, rank in (self.least, self.most))
        out = listed([f"rank {rank}: {shown(self.what, n)}" for n, rank in self.outliers], 4)
        return [COMPARED[self.what], least, shown(self.what, self.median), most, out]


def spread(what, values):
    """The spread of a number; `values` has (value, rank) for each rank.

    An outlier is beyond three times the distance between the quartiles, and a quarter away from the
    median. If at least half of the ranks have the same value, the outliers are the others, as long
    as these are few.
    """
    at = sorted(values)
    n = len(at)
    low, median, high = (at[i][0] for i in ((n - 1) // 4, (n - 1) // 2, n - 1 - (n - 1) // 4))
    reach = 3 * (high - low)
    out = [
        (value, rank)
        for value, rank in values
        if not low - reach <= value <= high + reach
        and (reach == 0 or abs(value - median) * 4 > abs(median))
    ]
    if n < FEWEST or len(out) * 10 > n:
        out = []
    out.sort(key=lambda one: (-abs(one[0] - median), one[1]))
    return Spread(what, at[0], median, at[-1], out)


def numbers_of(part):
    return dict(
        sums(part["keyvals"]),
        misuse=sum(one["times"] for one in part["misuse"].values()),
        objects=sum(one["made"] - one["freed"] for one in part["made"]),
        seconds=round(part["seconds"] * 1e9),
    )


class Differences:
    """How the ranks of a report differ.

    numbers   {rank: its numbers}
    spreads   those of the numbers that differ
    outliers  {rank: the labels of the numbers by which it stands out}, the oddest rank first
    differ    whether more differs than times
    said      a sentence or two
    """

    def __init__(self, parts):
        self.numbers = {part["rank"]: numbers_of(part) for part in parts}
        spreads = [
            spread(what, [(of[what], rank) for rank, of in self.numbers.items()])
            for what in COMPARED
        ]
        self.spreads = [one for one in spreads if one.least[0] != one.most[0]]
        out = {}
        for one in self.spreads:
            for _, rank in one.outliers:
                out.setdefault(rank, []).append(COMPARED[one.what])
        self.outliers = dict(sorted(out.items(), key=lambda item: (-len(item[1]), item[0])))
        counts = [COMPARED[one.what] for one in self.spreads if one.what not in TIMES]
        self.differ = bool(counts)
        partial = any(part["partial"] for part in parts)
        self.said = "As far as is known, a" if partial else "A"
        self.said += "ll ranks did the same, but for the time it took."
        if counts:
            self.said = f"The ranks differ in: {'; '.join(counts)}."
        if out:
            stands = "rank stands" if len(out) == 1 else "ranks stand"
            self.said += f" {len(out):,} {stands} out: {listed([*self.outliers], 6)}."
        elif len(parts) >= FEWEST:
            self.said += " No rank stands out."
