# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts instructions of many contenders, for tools/bench --instructions."""

import instructions


def count_all(contenders, operations=(), progress=lambda text: None):
    """{(operation, contender): instructions}"""
    counts = {}
    for at, contender in enumerate(contenders, 1):
        progress(f"[{at}/{len(contenders)}] counting {contender.name}")
        counts.update(instructions.count(contender.path("_count"), operations=operations,
                                         arguments=contender.arguments,
                                         env=contender.environment()))
    return counts


def lines(counts):
    """Lines of OPERATION CONTENDER INSTRUCTIONS, in the order in which they were counted."""
    operations = dict.fromkeys(operation for operation, _ in counts)
    for operation in operations:
        for (counted, contender), number in counts.items():
            if counted == operation:
                yield f"{operation} {contender} {number}"
