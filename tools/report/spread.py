# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How a number differs between ranks: its quartiles, and the ranks that stand out."""

# Below so many ranks nothing is called an outlier: each rank has a line of its own anyway.
FEWEST = 8
# How many outliers of a number are named.
NAMED = 8


def spread(values):
    """The quartiles of values, the places of the least and the most, and the outliers.

    `values` has a number for each rank, by its place. An outlier is beyond three times the distance
    between the quartiles, and a quarter away from the median; if half of the ranks say exactly the
    same, the outliers are the others, as long as these are few.
    """
    ordered = sorted(range(len(values)), key=lambda place: values[place])
    at = [values[place] for place in ordered]
    n = len(at)
    low, median, high = at[(n - 1) // 4], at[(n - 1) // 2], at[n - 1 - (n - 1) // 4]
    result = {
        "least": at[0],
        "least_at": ordered[0],
        "low": low,
        "median": median,
        "high": high,
        "most": at[-1],
        "most_at": ordered[-1],
        "outliers": [],
        "outliers_in_all": 0,
    }
    if n < FEWEST or at[0] == at[-1]:
        return result
    reach = 3 * (high - low)
    if reach:
        out = [
            p
            for p in range(n)
            if (values[p] < low - reach or values[p] > high + reach)
            and abs(values[p] - median) * 4 > abs(median)
        ]
    else:
        out = [p for p in range(n) if values[p] != median]
    if len(out) * 10 > n:
        out = []
    out.sort(key=lambda place: (-abs(values[place] - median), place))
    result["outliers_in_all"] = len(out)
    result["outliers"] = [[place, values[place]] for place in out[:NAMED]]
    return result
