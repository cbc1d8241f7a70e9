# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What changed between two reports, as text."""

import re

from reading import LABELS, NUMBERS, TIMES, key_of, sums, title
from words import counted, duration

# Which numbers are compared; those left out follow from others.
COMPARED = [name for name in NUMBERS if name not in ("freed", "callback_ns")]
# Times are never the same twice. The text leaves out what is smaller than this.
LEAST_NS = 100_000
LEAST_FACTOR = 1.25


def difference(old, new):
    """The data of a comparison: what differs, as (what, then, now).

    If the numbers of ranks differ, so do all sums. Then what a rank does on average is compared.
    """
    ranks = [max(1, old["ranks_heard_of"]), max(1, new["ranks_heard_of"])]

    def differs(was, now):
        return was * ranks[1] != now * ranks[0]

    before = {key_of(line): line for line in old["sum"]["keyvals"]}
    after = {key_of(line): line for line in new["sum"]["keyvals"]}
    lines = []
    for key in list(after) + [key for key in before if key not in after]:
        was, now = before.get(key), after.get(key)
        numbers = [(name, was[name] if was else 0, now[name] if now else 0) for name in COMPARED]
        numbers = [one for one in numbers if differs(*one[1:])]
        if numbers or not was or not now:
            state = "new" if not was else "gone" if not now else "changed"
            lines.append({"title": title(now or was), "state": state, "numbers": numbers})
    was, now = sums(before.values()), sums(after.values())
    totals = [(name, was[name], now[name]) for name in COMPARED]
    return {
        "facts": {
            "attrcache": [old["attrcache"], new["attrcache"]],
            "MPI": [old["mpi"], new["mpi"]],
            "ranks": [old["ranks"], new["ranks"]],
            "ranks heard of": [old["ranks_heard_of"], new["ranks_heard_of"]],
        },
        "ranks": ranks,
        "seconds": [old["sum"]["seconds"], new["sum"]["seconds"]],
        "totals": [one for one in totals if differs(*one[1:])],
        "lines": lines,
        "objects": places_that_differ(objects_left(old), objects_left(new), differs),
        "misuse": places_that_differ(misused(old), misused(new), differs),
    }


# ---- Places: their functions are compared, and lines only within a function that differs, since
# an edit anywhere above moves all lines ----


def split(place):
    """("solver: restart", "solver.c:120") of "solver: restart (solver.c:120)"; likewise with +0x3f."""
    return re.fullmatch(r"(.*?)(?: \(([^()]*:\d+)\)|(\+0x[0-9a-f]+))?", place, re.S).group(1, 2, 3)


def add(found, what, place, times):
    function, line, offset = split(place)
    there = found.setdefault(what + function, {})
    there[line or offset or ""] = there.get(line or offset or "", 0) + times


def objects_left(report):
    found = {}
    for one in report["sum"]["objects"]:
        how = "made by a dup" if one["from"] == "dup" else "first used"
        what = f"{one['kind']}s" + (f", {how} at " if one["place"] else "")
        add(found, what, one["place"], one["count"])
    return found


def misused(report):
    found = {}
    for name, one in report["sum"]["misuse"].items():
        for place, times in one["places"].items():
            add(found, f"{name}, at ", place, times)
        elsewhere = one["times"] - sum(one["places"].values())
        if elsewhere > 0:
            add(found, name, "", elsewhere)
    return found


def places_that_differ(old, new, differs):
    found = []
    for name in [*new, *(name for name in old if name not in new)]:
        was, now = old.get(name, {}), new.get(name, {})
        if not differs(sum(was.values()), sum(now.values())):
            continue
        found.append((name, sum(was.values()), sum(now.values())))
        # Lines are the same ones if all are.
        if len(now) > 1 and was.keys() == now.keys():
            found += [
                (f"{name}, line {line}", was[line], now[line])
                for line in now
                if differs(was[line], now[line])
            ]
    return found


# ---- As text ----


def shown(name, value):
    return duration(value) if name in TIMES else f"{value:,}"


def change(was, now, ranks):
    """How a number changed, for each rank."""
    was, now = was / ranks[0], now / ranks[1]
    if was == now:
        return "the same"
    if was == 0:
        return "new"
    if now == 0:
        return "gone"
    if now >= 2 * was:
        return f"x {now / was:.1f}"
    return f"{100 * (now - was) / was:+.1f} %"


def matters(name, was, now, ranks):
    """Whether a difference is worth a line of text."""
    if name not in TIMES:
        return True
    low, high = sorted((was * ranks[1] / ranks[0], now))
    return high - low >= LEAST_NS and high > LEAST_FACTOR * low


def text(found, old_name):
    """The comparison for people: below the report's own text, and on its page."""

    def worth_saying(numbers):
        return [one for one in numbers if matters(*one, ranks)]

    facts, ranks, (was, now) = found["facts"], found["ranks"], found["seconds"]
    out = [
        "",
        f"attrcache: compared with {old_name}, "
        f"{counted(facts['ranks'][0], 'rank')} of {facts['MPI'][0]}: "
        f"{duration(was * 1e9)} then, {duration(now * 1e9)} now",
    ]
    out += [f"  {name}: {was} then, {now} now" for name, (was, now) in facts.items() if was != now]
    if ranks[0] != ranks[1]:
        out.append("  The numbers are sums over ranks; the changes are those of an average rank.")
    blocks = [("all together", numbers) for numbers in [worth_saying(found["totals"])] if numbers]
    blocks += [
        (line["title"] + ("" if line["state"] == "changed" else f" ({line['state']})"), numbers)
        for state in ("changed", "new", "gone")
        for line in found["lines"]
        for numbers in [worth_saying(line["numbers"])]
        if line["state"] == state and (numbers or state != "changed")
    ]
    blocks += [
        (name, found[key])
        for key, name in (("objects", "objects never freed"), ("misuse", "misuse"))
        if found[key]
    ]
    rows = [
        [LABELS.get(name, name), shown(name, was), shown(name, now), change(was, now, ranks)]
        for _, numbers in blocks
        for name, was, now in numbers
    ]
    if not blocks:
        out += ["", "Nothing changed, but for the time it took."]
    widths = [max([len(row[i]) for row in rows], default=0) for i in range(4)]
    if rows:
        out += ["", f"    {'':{widths[0]}}  {'then':>{widths[1]}}  {'now':>{widths[2]}}"]
    left = iter(rows)
    for name, numbers in blocks:
        out.append("  " + name)
        for _, row in zip(numbers, left):
            cells = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:])]
            out.append("  ".join([f"    {row[0]:{widths[0]}}", *cells]))
    return "\n".join(out) + "\n\n"
