# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Numbers and lists as people write them."""


def counted(number, noun):
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(nanoseconds):
    if nanoseconds == 0:
        return "0"
    for limit, unit, digits in ((1e3, "ns", 0), (1e6, "us", 1), (1e9, "ms", 1)):
        if nanoseconds < limit:
            return f"{nanoseconds / limit * 1000:.{digits}f} {unit}"
    return f"{nanoseconds / 1e9:.2f} s"


def listed(names, most=3):
    """The first few."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
